"""The functions of probe.c for Python. They call the exchange table as C code does."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from tests.support.compiled import library

SOURCE = Path(__file__).with_name("probe.c")


def build() -> Path:
    return library(SOURCE, "-pthread")


@functools.cache
def probe() -> ctypes.PyDLL:
    """The library. With PyDLL its functions keep the GIL, and an exception that is set when they return is raised."""
    bound = ctypes.PyDLL(str(build()))
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    signatures = {
        "probe_two": (None, [pointer, pointer, pointer, number, pointer]),
        "probe_two_without_memory": (None, [pointer, pointer, pointer, pointer]),
        "probe_stream": (None, [pointer, number, number, pointer, number, pointer]),
        "probe_allocate": (None, [pointer, pointer, pointer, pointer]),
        "probe_repeat_dltensor": (number, [pointer, pointer, pointer, number]),
        "probe_repeat_export": (number, [pointer, pointer, number]),
        "probe_repeat_import": (number, [pointer, pointer, pointer, number, pointer]),
        "probe_repeat_refused_import": (number, [pointer, pointer, number]),
        "probe_repeat_allocate": (number, [pointer, pointer, number]),
        "probe_repeat_stream": (number, [pointer, number, number, number]),
        "probe_delete_at_exit": (number, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(bound, name)
        function.restype, function.argtypes = result, arguments
    return bound


@functools.cache
def probe_without_gil() -> ctypes.CDLL:
    """The same library, for functions that wait for a thread, which they must do without the GIL."""
    bound = ctypes.CDLL(str(build()))
    bound.probe_delete_on_new_thread.argtypes = [ctypes.c_void_p]
    bound.probe_allocate_on_new_thread.argtypes = [ctypes.c_void_p] * 3
    return bound
