"""Threads that look at the others all the time, as profilers, watchdogs and debuggers do, and keep what they see."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Callable


def _locals_of(frame: Any) -> Iterator[tuple[str, Any]]:
    """The name of the file and the local variables of this frame and of those that called it."""
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_locals.copy()
        frame = frame.f_back


def _frames() -> list[Any]:
    return [found for frame in sys._current_frames().values() for found in _locals_of(frame)]


SAMPLERS: dict[str, Callable[[], list[Any]]] = {"frames": _frames, "objects": gc.get_objects}


@contextlib.contextmanager
def sampling(look: Callable[[], list[Any]]) -> Iterator[list[int]]:
    """Calls `look` in another thread without a pause and keeps the latest results. The list has one entry, which
    counts the samples."""
    count, end, kept = [0], threading.Event(), deque[Any](maxlen=3)

    def sample() -> None:
        while not end.is_set():
            kept.append(look())
            count[0] += 1

    thread = threading.Thread(target=sample)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the threads take turns as often as they can
    thread.start()
    try:
        yield count
    finally:
        end.set()
        thread.join()
        sys.setswitchinterval(interval)


@contextlib.contextmanager
def tracing() -> Iterator[list[int]]:
    """Traces this thread as a debugger does: CPython then copies the local variables of each frame at each event."""
    count, kept = [0], deque[Any](maxlen=100)

    def trace(frame: Any, event: str, argument: object) -> Any:
        kept.append((frame.f_locals.copy(), argument))
        count[0] += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)
