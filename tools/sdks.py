"""The SDK of every row of variants.toml for the machine this runs on: what comes before cibuildwheel.

    DLX_DEV_DIR=build/dev python -m tools.sdks && SOURCE_DATE_EPOCH=... python -m cibuildwheel

On Linux they are those of ./dev sdk, with the headers of ROCm beside them. torch's wheels for macOS and Windows are
builds for the CPU, small enough to give up their libraries as they are:

    <dev dir>/sdk/2.9.1/torch/{include,lib,version.py}
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tools import hipify, matrix, sdk, wheels
from tools.settings import ToolError, machine

# Other systems than Linux: uv's word for the platform, and what torch's libraries are called there for a linker.
_PLATFORMS = {
    ("darwin", "arm64"): ("aarch64-apple-darwin", "lib{}.dylib"),
    ("win32", "x86_64"): ("x86_64-pc-windows-msvc", "{}.lib"),
}
_LIBRARIES = ("c10", "torch_cpu", "torch_python")


def fetch(release: str, system: str, processor: str) -> Path:
    """The SDK's folder, downloaded where it is not there yet. ToolError where there is none for that machine, or, on
    x86_64 Linux, where AMD's headers are not to be had: a wheel without its rocm libraries must not be published."""
    if system == "linux":
        folder = sdk.fetch(release, processor)
        if processor == "x86_64":  # ROCm has no other
            hipify.make(folder / "torch")
        return folder
    if (system, processor) not in _PLATFORMS:
        raise ToolError(f"no wheel is built for {system} on {processor}: Linux, macOS on arm64 and Windows on x86_64")
    return _unpacked(release, *_PLATFORMS[system, processor], sdk.sdk_dir() / release)


def _unpacked(release: str, platform: str, library: str, target: Path) -> Path:
    """Headers and libraries out of torch's wheel; the folder has its name once it is complete."""
    if target.exists():
        return target
    wanted = {"torch/version.py", *(f"torch/lib/{library.format(name)}" for name in _LIBRARIES)}
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        found = wheels.find(f"torch==={release}", platform=platform)
        with wheels.open_wheel(found, Path(scratch)) as archive:
            names = [n for n in archive.namelist() if n.startswith("torch/include/") or n in wanted]
            if missing := wanted.difference(names):
                raise ToolError(f"{found.filename} has no {', '.join(sorted(missing))}: wheels of torch have changed")
            archive.extractall(Path(scratch, "made"), names)
        shutil.move(Path(scratch, "made"), target)
    return target


def main() -> int:
    try:
        for release in dict.fromkeys(row.sdk for row in matrix.read().rows.values()):
            print(fetch(release, sys.platform, machine()), flush=True)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
