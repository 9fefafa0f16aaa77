"""In the process under test: which functions of the simulated CUDA were called."""

from __future__ import annotations

import ctypes
import os

from tests.simulators.cuda.generate import CORE


def _core() -> ctypes.CDLL:
    """Return the library that keeps the record, if torch has loaded it; never load it here."""
    try:
        core = ctypes.CDLL(CORE, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        message = "the simulated CUDA is not loaded: start the process with its folder on LD_LIBRARY_PATH"
        raise RuntimeError(message) from None
    core.dlx_sim_count.restype = ctypes.c_ulong
    core.dlx_sim_capacity.restype = ctypes.c_ulong
    core.dlx_sim_name.restype = ctypes.c_char_p
    core.dlx_sim_name.argtypes = [ctypes.c_ulong]
    core.dlx_sim_reset.restype = None
    return core


def simulated() -> bool:
    """Say whether this process runs on the simulated CUDA."""
    try:
        _core()
    except RuntimeError:
        return False
    return True


def reset() -> None:
    """Forget the calls recorded so far."""
    _core().dlx_sim_reset()


def calls() -> list[str]:
    """Return the names of the functions called since `reset()`, from any thread, in order; stubs are among them."""
    core = _core()
    count = core.dlx_sim_count()
    if count > core.dlx_sim_capacity():
        raise RuntimeError(f"{count} calls since reset(), more than the record holds: call reset() later")
    names = (core.dlx_sim_name(i) for i in range(count))
    return [name.decode() for name in names if name is not None]
