"""Settings for compiling for another processor than this machine's: with the cross compiler of the Linux distribution,
or, for macOS, with zig."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from tools.build import zig
from tools.settings import ROOT, ToolError, machine

_DEBIAN_PACKAGES = {"x86_64": "g++-x86-64-linux-gnu", "aarch64": "g++-aarch64-linux-gnu"}


@dataclass(frozen=True)
class Settings:
    """CMake definitions and environment variables for a build; both are empty for this machine's own processor."""

    defines: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def settings(arch: str) -> Settings:
    """The settings for a processor; ToolError where no wheels are built for it or its compiler is missing."""
    if arch == machine():
        return Settings()
    # _PYTHON_HOST_PLATFORM replaces the answer of sysconfig.get_platform(), from which the wheel's tag comes.
    if arch == "arm64":
        defines = {"CMAKE_TOOLCHAIN_FILE": str(ROOT / "tools" / "build" / "macos-arm64.cmake")}
        environment = {"ZIG": str(zig.program()), **zig.environment(), "_PYTHON_HOST_PLATFORM": "macosx-11.0-arm64"}
        return Settings(defines, environment)
    defines = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": arch,
        "CMAKE_CXX_COMPILER": compilers(arch)["CXX"],
    }
    return Settings(defines, {"_PYTHON_HOST_PLATFORM": f"linux-{arch}"})


def compilers(arch: str) -> dict[str, str]:
    """CC and CXX for a processor of Linux; ToolError as in settings()."""
    if arch not in _DEBIAN_PACKAGES:
        raise ToolError(f"no wheels are built for {arch}: choose {', '.join(_DEBIAN_PACKAGES)}, or arm64 (macOS)")
    commands = {"CC": f"{arch}-linux-gnu-gcc", "CXX": f"{arch}-linux-gnu-g++"}
    for compiler in commands.values():
        if not shutil.which(compiler):
            package = _DEBIAN_PACKAGES[arch]
            raise ToolError(
                f"no compiler for {arch}: {compiler} is not on PATH. Install it (Debian: apt install {package})"
            )
    return commands
