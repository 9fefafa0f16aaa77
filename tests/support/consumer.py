"""The functions of env_consumer.cc, compiled for the tvm-ffi here. They ask it what a library of kernels asks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from tests.support.compiled import library


@functools.cache
def consumer() -> Any:
    """The loaded module: call `consumer()["stream_for"](tensor)` and so on."""
    import tvm_ffi
    from tvm_ffi import libinfo

    places: Any = libinfo
    runtime = Path(places.find_libtvm_ffi())
    includes = dict.fromkeys([places.find_include_path(), places.find_dlpack_include_path()])
    source = Path(__file__).with_name("env_consumer.cc")
    flags = ["-std=c++17", *(f"-I{include}" for include in includes), f"-L{runtime.parent}", "-ltvm_ffi"]
    return tvm_ffi.load_module(str(library(source, *flags)))
