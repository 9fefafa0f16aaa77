"""A simulated ROCm: a libc10_hip of our own, so that a library made for a ROCm build of torch runs beside any torch."""

from __future__ import annotations

import os
from pathlib import Path

from tests.simulators.vendor import Library, Vendor, default_cache, prepend

__all__ = ["build", "environment"]

ROCM = Vendor("rocm")
LIBRARY = "libc10_hip.so"
RUNTIME = "libamdhip64.so.6"


def build(out: Path, generation: int = 1) -> Path:
    """Return the folder with a simulated libc10_hip and libamdhip64, building it in `out` if it is not there yet.

    `generation` is that of PyTorch's hipify, which decides the names: 1 up to torch 2.10 (c10::hip), 2 from 2.11 on
    (c10::cuda). Raises ValueError for another one, RuntimeError where the C compiler fails.
    """
    if generation not in (1, 2):
        raise ValueError(f"hipify has the generations 1 and 2, not {generation}")
    libraries = [Library(RUNTIME, sources=ROCM.sources(RUNTIME))]
    libraries += [Library(LIBRARY, sources=ROCM.sources(LIBRARY), needs=(RUNTIME,))]
    return ROCM.build(out, f"hipify{generation}", [], lambda: libraries, DLX_SIM_GENERATION=generation)


def environment(generation: int = 1) -> dict[str, str]:
    """Return this process's environment, changed so that a child process finds the simulated libc10_hip."""
    folder = build(default_cache("rocm"), generation)
    return {**os.environ, "LD_LIBRARY_PATH": prepend([folder], "LD_LIBRARY_PATH", ":", os.environ)}
