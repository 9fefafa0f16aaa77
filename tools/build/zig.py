"""zig: the compiler for macOS on machines without Apple's. It is clang with the headers of several systems."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from tools.screen import busy
from tools.settings import ToolError, dev_dir, locked, run, tool, uv_environment

# An exact version: another one may compile other libraries, and the audit has to see them first.
REQUIREMENT = "ziglang==0.17.1"


def program() -> Path:
    """The path of zig: the one installed for this Python, else one in the dev folder, which the first call downloads.

    It is 100 MB to download and 400 MB unpacked, so the tool environment does not contain it. ToolError where it
    cannot be downloaded."""
    spec = importlib.util.find_spec("ziglang")
    if spec and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)), "zig")
    folder = dev_dir() / REQUIREMENT.replace("==", "-")
    with locked(folder.with_name(folder.name + ".lock")):
        if not folder.exists():
            _download(folder)
    return folder / "ziglang" / "zig"


def environment() -> dict[str, str]:
    """The environment variables for zig: the folders where it keeps what it has compiled."""
    cache = str(dev_dir() / "zig-cache")
    return {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}


def _download(folder: Path) -> None:
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    command = [tool("uv"), "pip", "install", "-q", "--target", str(part), "--no-deps", "--only-binary", ":all:"]
    with busy(f"Downloading {REQUIREMENT} (100 MB)"):
        try:
            run([*command, REQUIREMENT], what=f"installing {REQUIREMENT}", env=uv_environment())
        except ToolError as error:
            raise ToolError(f"zig, the compiler for macOS, cannot be installed: {error}") from None
    part.rename(folder)
