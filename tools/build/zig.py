"""zig, which is clang with the headers of several systems: the compiler for macOS where there is none of Apple's."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from tools.screen import busy
from tools.settings import ToolError, dev_dir, locked, run, tool, uv_environment

# Its libraries are audited byte by byte, so that another version is a change of this line.
REQUIREMENT = "ziglang==0.17.1"


def program() -> Path:
    """The program: the one installed beside this Python, or else the dev folder's, fetched at the first use. It is
    100 MB to download and 400 unpacked, so the tool environment has none. ToolError where it is not to be had."""
    spec = importlib.util.find_spec("ziglang")
    if spec and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)), "zig")
    folder = dev_dir() / REQUIREMENT.replace("==", "-")
    with locked(folder.with_name(folder.name + ".lock")):
        if not folder.exists():
            _fetch(folder)
    return folder / "ziglang" / "zig"


def environment() -> dict[str, str]:
    """What zig is to find in its environment: where it may keep what it has compiled."""
    cache = str(dev_dir() / "zig-cache")
    return {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}


def _fetch(folder: Path) -> None:
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    command = [tool("uv"), "pip", "install", "-q", "--target", str(part), "--no-deps", "--only-binary", ":all:"]
    with busy(f"Fetching {REQUIREMENT} (100 MB)"):
        try:
            run([*command, REQUIREMENT], what=f"installing {REQUIREMENT}", env=uv_environment())
        except ToolError as error:
            raise ToolError(f"the compiler for macOS is not to be had: {error}") from None
    part.rename(folder)
