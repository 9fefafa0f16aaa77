"""What each platform has: variants.py, which CMake asks, and tools.matrix, which audit and tables ask, agree."""

from __future__ import annotations

import re
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


def rows(platform: str) -> set[tuple[str, str]]:
    """(row, backend), as CMake is told."""
    command = [sys.executable, str(ROOT / "cmake" / "variants.py"), "cmake", *PLATFORMS[platform]]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert f'set(DLX_PLATFORM "{platform}")' in said
    found = re.findall(r'^set\(DLX_ROW_(\w+)_BACKENDS "(.*)"\)$', said, re.MULTILINE)
    return {(row, backend) for row, backends in found for backend in filter(None, backends.split(";"))}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_both_have_the_same(platform: str) -> None:
    assert rows(platform) == {(row, name) for row, name in matrix.read().files(platform) if row != matrix.OVERLAY}


def test_every_platform_is_one_of_these() -> None:
    assert set(matrix.read().platforms) == set(PLATFORMS)


@pytest.mark.parametrize("platform", ["macos-arm64", "windows-x64"])
def test_only_libstdcxx_has_two_abis_and_only_linux_has_accelerators(platform: str) -> None:
    new = {name for name, row in matrix.read().rows.items() if row.cxx11}
    assert rows(platform) == {(row, "cpu") for row in new}
