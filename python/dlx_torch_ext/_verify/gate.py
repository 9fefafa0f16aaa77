"""Holds a stream: what is given to it after the gate waits until the gate is opened.

The gate is a function that the device's runtime calls on a thread of its own when the stream gets there. A function of
ctypes would not do: it needs the GIL, and torch may hold that while it waits for the stream. So it is libc's sem_wait,
whose one argument is the semaphore; sem_post opens it.

One gate is closed at a time, because a runtime may call such functions one after another.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .runtimes import Runtime

_SIZE = 64  # of a semaphore, at least: glibc's has 32 bytes
_kept: list[Any] = []  # the runtime may read a semaphore late


class Gate:
    """Closed within the block. When the block is left, also by an error, it opens, and the stream's work is done."""

    def __init__(self, runtime: Runtime, stream: int) -> None:
        self._runtime, self._stream = runtime, stream
        self._libc = ctypes.CDLL(None)
        self._semaphore = ctypes.create_string_buffer(_SIZE)
        _kept.append(self._semaphore)
        self._libc.sem_init(self._semaphore, 0, 0)

    def __enter__(self) -> None:
        wait = ctypes.cast(self._libc.sem_wait, ctypes.c_void_p)
        data = ctypes.cast(self._semaphore, ctypes.c_void_p)
        self._end = self._runtime.call(self._stream, wait, data)

    def __exit__(self, *_: object) -> None:
        self._libc.sem_post(self._semaphore)
        self._runtime.wait(self._stream)
        self._end()
