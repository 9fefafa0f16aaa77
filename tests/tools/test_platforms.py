"""What each platform has: what CMake is told by cmake/variants.py, and what audit and tables go by."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tools import matrix
from tools.settings import ROOT

PLATFORMS = {
    "linux-x86_64": ("Linux", "x86_64"),
    "linux-aarch64": ("Linux", "aarch64"),
    "macos-arm64": ("Darwin", "arm64"),
    "windows-x64": ("Windows", "AMD64"),
}


def libraries(platform: str) -> set[tuple[str, str]]:
    """(row, backend) of every library, as CMake is told."""
    command = [sys.executable, str(ROOT / "cmake" / "variants.py"), "cmake", *PLATFORMS[platform]]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    told = json.loads(said)
    assert told["platform"] == platform
    found = {row["name"]: row["backends"] for row in told["rows"]} | {matrix.OVERLAY: told["overlays"]}
    return {(row, backend) for row, backends in found.items() for backend in backends}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_both_have_the_same(platform: str) -> None:
    assert libraries(platform) == set(matrix.read().files(platform))


def test_every_platform_is_one_of_these() -> None:
    assert set(matrix.read().platforms) == set(PLATFORMS)


@pytest.mark.parametrize("platform", ["macos-arm64", "windows-x64"])
def test_only_libstdcxx_has_two_abis_and_only_linux_has_accelerators(platform: str) -> None:
    new = {name for name, row in matrix.read().rows.items() if row.cxx11_abi}
    assert libraries(platform) == {(row, "cpu") for row in new}
