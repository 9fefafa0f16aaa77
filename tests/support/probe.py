"""Compiles probe.c with the system's C compiler, once for each state of the file, and binds its functions."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("probe.c")


def scratch() -> Path:
    """A folder for what the tests compile, kept between runs: $DLX_TEST_CACHE, or one in the temporary folder."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(os.environ.get("DLX_TEST_CACHE") or Path(tempfile.gettempdir()) / f"dlx-torch-tests-{user}")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def build() -> Path:
    command = [*shlex.split(os.environ.get("CC", "cc")), "-shared", "-fPIC", "-O1", "-pthread"]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    key = hashlib.sha256(" ".join(command).encode() + SOURCE.read_bytes()).hexdigest()[:16]
    library = scratch() / f"probe-{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=scratch()) as folder:
            made = Path(folder) / library.name
            subprocess.run([*command, str(SOURCE), "-o", str(made)], check=True)
            made.replace(library)
    return library


@functools.lru_cache(maxsize=None)
def probe() -> ctypes.PyDLL:
    """The helper library. PyDLL: its functions keep the GIL and raise the exception they find set on return."""
    library = ctypes.PyDLL(str(build()))
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    signatures = {
        "probe_two": (None, [pointer, pointer, pointer, number, pointer]),
        "probe_stream": (None, [pointer, number, number, pointer, number, pointer]),
        "probe_allocate": (None, [pointer, pointer, pointer, pointer]),
        "probe_delete": (None, [pointer]),
        "probe_repeat_dltensor": (number, [pointer, pointer, pointer, number]),
        "probe_repeat_export": (number, [pointer, pointer, number]),
        "probe_repeat_import": (number, [pointer, pointer, pointer, number, pointer]),
        "probe_repeat_refused_import": (number, [pointer, pointer, number]),
        "probe_repeat_allocate": (number, [pointer, pointer, number]),
        "probe_repeat_stream": (number, [pointer, number, number, number]),
        "probe_delete_at_exit": (number, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@functools.lru_cache(maxsize=None)
def probe_without_gil() -> ctypes.CDLL:
    """The same library, for the functions that must not hold the GIL while they wait for a thread."""
    library = ctypes.CDLL(str(build()))
    library.probe_delete_on_new_thread.argtypes = [ctypes.c_void_p]
    library.probe_allocate_on_new_thread.argtypes = [ctypes.c_void_p] * 3
    return library
