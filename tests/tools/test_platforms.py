"""cmake/variants.py, which CMake runs, and tools.matrix, which the audit and the tables use, agree on the backends of
each platform."""

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
    """The (row, backend) pairs of all libraries, as variants.py prints them for CMake."""
    command = [sys.executable, str(ROOT / "cmake" / "variants.py"), "cmake", *PLATFORMS[platform]]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)
    assert printed["platform"] == platform
    backends = {row["name"]: row["backends"] for row in printed["rows"]} | {matrix.OVERLAY: printed["overlays"]}
    return {(row, backend) for row, names in backends.items() for backend in names}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_both_have_the_same(platform: str) -> None:
    assert libraries(platform) == set(matrix.read().files(platform))


def test_these_are_all_platforms() -> None:
    assert set(matrix.read().platforms) == set(PLATFORMS)


@pytest.mark.parametrize("platform", ["macos-arm64", "windows-x64"])
def test_only_libstdcxx_has_two_abis_and_only_linux_has_accelerators(platform: str) -> None:
    newer_abi = {name for name, row in matrix.read().rows.items() if row.cxx11_abi}
    assert libraries(platform) == {(row, "cpu") for row in newer_abi}
