"""In the process under test: which functions of the simulated CANN were called, and what becomes of queued work."""

from __future__ import annotations

import ctypes

from tests.simulators.record import Record

_RECORD = Record("ascend", "Ascend")

simulated = _RECORD.simulated
reset = _RECORD.reset
calls = _RECORD.calls


def slow_queue(seconds: float) -> None:
    """From now on, work given to a stream takes that long to be accepted, and is in `calls()` only after that."""
    _RECORD.function("slow", None, ctypes.c_double)(seconds)


def fail_queue(on: bool = True) -> None:
    """From now on, work given to a stream is refused with CANN's internal error; with `on` False, accepted again."""
    _RECORD.function("fail", None, ctypes.c_int)(on)
