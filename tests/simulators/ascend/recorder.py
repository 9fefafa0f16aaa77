"""In the process under test: which functions of the simulated CANN were called, and what becomes of queued work.

Work is what a stream is given: operators and asynchronous copies. torch_npu puts it into a queue on the host, whose own
thread calls CANN. What that thread has not called yet, a kernel launched on the bare stream would overtake.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator

from tests.simulators.record import Record

_RECORD = Record("ascend", "Ascend")

simulated = _RECORD.simulated
reset = _RECORD.reset
calls = _RECORD.calls


def finished() -> int:
    """Return how many pieces of work CANN has been given since the process began. Each counts when its call returns."""
    count: int = _RECORD.function("finished", ctypes.c_ulong)()
    return count


def slow_queue(seconds: float) -> None:
    """From now on, CANN takes that long to accept work, and has it in `calls()` and `finished()` only after that."""
    _RECORD.function("slow", None, ctypes.c_double)(seconds)


def drained(work: Callable[[], object], call: Callable[[], object]) -> bool:
    """Queue one piece of work, make a call, and say whether the call returned only after CANN had been given the work.

    The queue must be empty before, as after `torch.npu.synchronize()`.
    """
    slow_queue(0.2)
    try:
        before = finished()
        work()
        assert finished() == before, "the work was done at once: nothing was queued that could be waited for"
        call()
        return finished() > before
    finally:
        slow_queue(0)


def fail_queue(on: bool = True) -> None:
    """From now on, work is refused with CANN's internal error; with `on` False, accepted again.

    torch_npu notices on the queue's thread: the next call that waits for the queue throws, once; later ones do not.
    """
    _RECORD.function("fail", None, ctypes.c_int)(on)


def failed(work: Callable[[], object]) -> None:
    """Queue one piece of work, have it refused, and return once it has been: the queue has failed by then."""
    fail_queue()
    before = finished()
    work()
    while finished() == before:
        pass


@contextlib.contextmanager
def broken_queue() -> Iterator[None]:
    """Within the block, waiting for the queue fails, so that `NPUStream::stream()` answers NULL while work is queued.

    torch_npu waits by reading an eventfd: within the block, each leads to /dev/null. Have work in hand that lasts
    longer than the block (`slow_queue`), since the queue's own thread uses them too.
    """
    eventfds = [fd for fd in map(int, os.listdir("/proc/self/fd")) if _is_eventfd(fd)]
    kept = [(fd, os.dup(fd)) for fd in eventfds]
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        for fd, _ in kept:
            os.dup2(null, fd)
        yield
    finally:
        for fd, copy in kept:
            os.dup2(copy, fd)
            os.close(copy)
        os.close(null)


def _is_eventfd(fd: int) -> bool:
    try:
        return "eventfd" in os.readlink(f"/proc/self/fd/{fd}")
    except OSError:  # the listing's own descriptor, closed by now
        return False
