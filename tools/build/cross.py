"""Compile for another processor than this machine's: with the compiler that distributions have for it, or, for macOS,
with zig."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from tools.build import zig
from tools.settings import ROOT, ToolError, machine

_DEBIAN = {"x86_64": "g++-x86-64-linux-gnu", "aarch64": "g++-aarch64-linux-gnu"}


@dataclass(frozen=True)
class Settings:
    """What CMake and the build backend have to be told; nothing for this machine's own processor."""

    defines: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def settings(arch: str) -> Settings:
    """The settings for a processor; ToolError where it is none of ours or its compiler is missing."""
    if arch == machine():
        return Settings()
    # What sysconfig.get_platform() answers, and with it the wheel's tag.
    if arch == "arm64":
        defines = {"CMAKE_TOOLCHAIN_FILE": str(ROOT / "tools" / "build" / "macos-arm64.cmake")}
        host = {"ZIG": str(zig.program()), **zig.environment(), "_PYTHON_HOST_PLATFORM": "macosx-11.0-arm64"}
        return Settings(defines, host)
    defines = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": arch,
        "CMAKE_CXX_COMPILER": compilers(arch)["CXX"],
    }
    return Settings(defines, {"_PYTHON_HOST_PLATFORM": f"linux-{arch}"})


def compilers(arch: str) -> dict[str, str]:
    """CC and CXX for a processor; ToolError as above."""
    if arch not in _DEBIAN:
        raise ToolError(f"{arch}: wheels are built for {', '.join(_DEBIAN)} and, on macOS, arm64")
    found = {"CC": f"{arch}-linux-gnu-gcc", "CXX": f"{arch}-linux-gnu-g++"}
    for compiler in found.values():
        if not shutil.which(compiler):
            raise ToolError(
                f"no compiler for {arch}: {compiler} is not on PATH. Install it (Debian: apt install {_DEBIAN[arch]})"
            )
    return found
