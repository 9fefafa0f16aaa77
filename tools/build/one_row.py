"""Configure and build one row in a folder of ./dev's, for programs that look at it or test it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tools import matrix
from tools.build.wheel import build_dir
from tools.sdk import every_row, fetch
from tools.settings import ROOT, locked, machine, run, tool

ROW = "torch2_9_cxx11"
TORCH = "2.9.1"


def configure(
    kind: str, definitions: Mapping[str, str] | None = None, environment: dict[str, str] | None = None
) -> Path:
    """The build folder for `kind`, configured by CMake for the row with these definitions; its SDK is downloaded."""
    release = matrix.read().rows[ROW].sdk
    every_row.fetch_with_rocm(release, machine(), require_rocm=False)
    folder = build_dir(kind, machine())
    defines = {
        "CMAKE_MAKE_PROGRAM": tool("ninja"),
        "CMAKE_UNITY_BUILD": "OFF",  # a command for each file
        "DLX_TORCH_ROWS": ROW,
        "DLX_TORCH_SDK_DIR": str(fetch.sdk_dir(machine())),
        "Python3_EXECUTABLE": sys.executable,
        **(definitions or {}),
    }
    command = [tool("cmake"), "-G", "Ninja", "-S", str(ROOT), "-B", str(folder)]
    command += [f"-D{name}={value}" for name, value in defines.items()]
    with locked(folder.with_suffix(".lock")):
        run(command, what=f"configuring for {kind}", env=environment)
    return folder


def build(folder: Path, environment: dict[str, str] | None = None) -> None:
    """Compile what is not up to date in a folder of configure()."""
    with locked(folder.with_suffix(".lock")):
        run([tool("cmake"), "--build", str(folder)], what=f"compiling in {folder}", env=environment)


def library(folder: Path, backend: str) -> Path:
    return folder / "_lib" / ROW / f"libdlx_torch_{backend}.so"
