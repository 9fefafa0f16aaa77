"""Compiles stub.c into the library that a test needs, once for each set of macros."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("stub.c")
_FOLDER = "DLX_TORCH_TEST_STUBS"  # so that child processes use what their parent has compiled


def compiled(*macros: str) -> Path:
    """The path of a shared library compiled from stub.c with these macros: `compiled("ABI=2", 'BACKEND="cuda"')`."""
    out = _folder() / f"stub-{hashlib.sha256(repr(macros).encode()).hexdigest()[:16]}.so"
    if not out.exists():
        command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-Wl,-z,now", *(f"-D{macro}" for macro in macros)]
        subprocess.run([*command, str(SOURCE), "-o", str(out)], check=True)
    return out


def library(path: Path, *macros: str) -> Path:
    """A copy of such a library at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(compiled(*macros), path))


def _folder() -> Path:
    if _FOLDER not in os.environ:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="dlx-torch-stubs-")
        atexit.register(shutil.rmtree, os.environ[_FOLDER], ignore_errors=True)
    return Path(os.environ[_FOLDER])
