"""Compiles C or C++ files of the tests into libraries, each once until the file or the command changes."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def scratch() -> Path:
    """A folder for what the tests compile, kept between runs: $DLX_TEST_CACHE, or one in the temporary folder."""
    chosen = os.environ.get("DLX_TEST_CACHE")
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(chosen or Path(tempfile.gettempdir()) / f"dlx-torch-tests-{user}")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not chosen and folder.lstat().st_uid != user:  # anybody may have made it, and put libraries there
        raise PermissionError(f"{folder} belongs to somebody else: remove it, or set DLX_TEST_CACHE to another folder")
    return folder


def library(source: Path, *flags: str, compiler: Sequence[str] = (), beside: Sequence[Path] = ()) -> Path:
    """The path of the shared library. Without `compiler`, $CC or $CXX names it. `beside`: more files of it."""
    default = os.environ.get("CC", "cc") if source.suffix == ".c" else os.environ.get("CXX", "c++")
    command = [*(compiler or shlex.split(default)), "-shared", "-fPIC", "-O1"]
    if sys.platform == "darwin" and not compiler:
        command += ["-undefined", "dynamic_lookup"]
    contents = b"".join(file.read_bytes() for file in (source, *beside))
    key = hashlib.sha256("\n".join([*command, *flags]).encode() + contents).hexdigest()[:16]
    made = scratch() / f"{source.stem}-{key}.so"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=scratch()) as folder:
            new = Path(folder) / made.name
            sources = [str(file) for file in (source, *beside) if file.suffix != ".h"]
            subprocess.run([*command, *sources, *flags, "-o", str(new)], check=True)
            new.replace(made)
    return made
