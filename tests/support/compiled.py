"""Compiles C or C++ files of the tests into libraries, each once until the file or the command changes."""

from __future__ import annotations

import hashlib
import importlib.util
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


def dlpack_include() -> Path:
    """The folder that holds dlpack/dlpack.h: in our wheel or, where a checkout is imported, in tvm_ffi, whose own
    import might compile something."""
    for package in ("dlx_torch_ext", "tvm_ffi"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            include = Path(spec.origin).parent / "include"
            if (include / "dlpack" / "dlpack.h").exists():
                return include
    raise FileNotFoundError("dlpack.h is neither in dlx_torch_ext nor in tvm_ffi: install the wheel, not a checkout")
