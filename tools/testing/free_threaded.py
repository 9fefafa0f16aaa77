"""A free-threaded CPython ("3.13t"), compiled from Debian's sources: for machines that cannot download uv's builds."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tools.settings import ToolError, dev_dir, locked, run
from tools.testing import debian


def python(version: str) -> Path | None:
    """The path of the interpreter, compiled at the first call, which takes minutes. None where `version` is not of a
    free-threaded one, or its sources cannot be had or compiled here."""
    if not version.endswith("t"):
        return None
    root = dev_dir() / "pythons" / f"compiled-{version}"
    with locked(root.with_name(root.name + ".lock")):
        if not (root / "complete").exists():
            shutil.rmtree(root, ignore_errors=True)
            sources = debian.sources(version[:-1], root / "sources")
            if sources is None or not _compile(sources, root):
                return None
            (root / "complete").touch()
    return root / "bin" / f"python{version}"


def _compile(sources: Path, root: Path) -> bool:
    """False where that fails: a compiler, or the headers of libffi and zlib, may be missing."""
    configure = ["./configure", "--disable-gil", "--disable-test-modules", "--without-ensurepip", f"--prefix={root}"]
    try:
        for command in (configure, ["make", f"-j{os.cpu_count() or 1}"], ["make", "install"]):
            run(command, what="compiling CPython", cwd=sources)
        run([str(next(root.glob("bin/python3.*t"))), "-c", "import ctypes, zlib"], what="importing ctypes and zlib")
    except (ToolError, OSError, StopIteration):
        return False
    shutil.rmtree(root / "sources")
    return True
