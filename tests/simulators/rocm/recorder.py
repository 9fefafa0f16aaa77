"""For the process under test, after libc10_hip is loaded: what was called, and which streams are current."""

from __future__ import annotations

import ctypes

from tests.simulators.record import Record

_RECORD = Record("rocm", "ROCm")

simulated = _RECORD.simulated
reset = _RECORD.reset
calls = _RECORD.calls


def set_stream(device: int, stream: int | None) -> None:
    """Make any pointer the calling thread's current stream on a device; None is the default stream."""
    count = _RECORD.function("device_count", ctypes.c_int)()
    if not 0 <= device < count:
        raise ValueError(f"there are {count} simulated devices, and no number {device}")
    _RECORD.function("set_stream", None, ctypes.c_int, ctypes.c_void_p)(device, stream)
