"""Calls of the simulated libc10_hip by its C++ names, in a process that was started with its folder."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from tests.simulators.rocm import recorder


class Stream(ctypes.Structure):
    """c10::Stream. It is returned in registers, and so are all arguments and results here: ctypes can call them."""

    _fields_ = [("type", ctypes.c_int8), ("index", ctypes.c_int8), ("id", ctypes.c_int64)]


class Library:
    """`names`: of getCurrentHIPStream, HIPStream::stream and device_count, as one generation of hipify has them."""

    def __init__(self, names: list[str]) -> None:
        library = ctypes.CDLL("libc10_hip.so")
        self.stream, self.handle, self.count = (getattr(library, name) for name in names)
        self.stream.argtypes, self.stream.restype = [ctypes.c_int8], Stream
        self.handle.restype = ctypes.c_void_p

    def current(self, device: int) -> int | None:
        stream = self.stream(device)
        handle: int | None = self.handle(ctypes.byref(stream))
        return handle


def streams_that_were_set(names: list[str]) -> dict[str, Any]:
    library = Library(names)
    recorder.set_stream(0, 0x1000)
    recorder.set_stream(1, 0xFFFF_8000_0000_2000)
    seen = {
        "handles": [library.current(0), library.current(1)],
        "device_type": library.stream(1).type,
        "indices": [library.stream(1).index, library.stream(-1).index],
    }
    recorder.set_stream(1, None)
    return {**seen, "after_reset": library.current(1)}


def streams_of_two_threads(names: list[str]) -> list[int | None]:
    """Of the other thread before and after it sets one, and then of the main thread."""
    library = Library(names)
    recorder.set_stream(1, 0x1000)
    seen = []

    def work() -> None:
        seen.append(library.current(1))
        recorder.set_stream(1, 0x2000)
        seen.append(library.current(1))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return [*seen, library.current(1)]


def count_and_error_beyond_it(names: list[str], device: int) -> list[Any]:
    library = Library(names)
    try:
        recorder.set_stream(device, 0x1000)
    except ValueError as error:
        return [library.count(), str(error)]
    raise AssertionError(f"there is a device {device}")


def recorded_calls(names: list[str]) -> list[Any]:
    library = Library(names)
    recorder.reset()
    library.current(1)
    return [recorder.simulated(), recorder.calls()]
