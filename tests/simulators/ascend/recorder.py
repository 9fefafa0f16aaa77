"""For the process under test: which functions of the simulated CANN were called, and control over queued work.

Work is what a stream gets: operators and asynchronous copies. torch_npu puts it into a queue on the host, and the
queue's own thread calls CANN. A kernel that is launched on the bare stream runs before the work that is still queued.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator

from tests.simulators.record import Record

_RECORD = Record("ascend", "Ascend")

simulated = _RECORD.simulated
reset = _RECORD.reset
calls = _RECORD.calls


def finished() -> int:
    """Return how many pieces of work CANN has accepted or refused since the process began."""
    count: int = _RECORD.function("finished", ctypes.c_ulong)()
    return count


@contextlib.contextmanager
def held(work: Callable[[], object], at_most_s: float = 30) -> Iterator[None]:
    """Queue one piece of work; within the block the queue's thread has called CANN for it, and CANN does not return.

    After `at_most_s` it does, so that a test that waits for the work within the block fails and does not hang. The
    queue must be empty before, as it is after `torch.npu.synchronize()`.
    """
    hold, holder = _RECORD.function("hold", None, ctypes.c_double), _RECORD.function("holder", ctypes.c_int)
    hold(at_most_s)
    try:
        work()
        while not holder():
            pass
        assert holder() != threading.get_native_id(), "CANN was called at once, on this thread: nothing was queued"
        yield
    finally:
        hold(0)


def waits_for_queue(work: Callable[[], object], call: Callable[[], object], *, expected: bool) -> bool:
    """Queue one piece of work, make a call, and say whether the call returned only after CANN had accepted the work.

    If the call is expected to wait, CANN accepts the work by itself after 0.2 s; if not, after the call has returned.
    So a slow machine does not turn a right answer into a wrong one.
    """
    before = finished()
    with held(work, 0.2 if expected else 30):
        call()
        return finished() > before


def queue_failing_work(work: Callable[[], object]) -> None:
    """Queue one piece of work that CANN assert_refuses, as all after it, with its internal error; return when it has.

    torch_npu notices on the queue's thread: the next call that waits for the queue throws, once; later ones do not.
    """
    before = finished()
    _RECORD.function("fail", None)()
    work()
    while finished() == before:
        pass


@contextlib.contextmanager
def broken_queue() -> Iterator[None]:
    """Within the block, waiting for the queue fails, so that `NPUStream::stream()` answers NULL while work is queued.

    torch_npu waits by reading an eventfd: within the block, each leads to /dev/null. The queue's own thread uses them
    too, so CANN has to keep it busy for the whole block (`held`).
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
