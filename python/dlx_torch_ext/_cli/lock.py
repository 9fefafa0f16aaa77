"""A lock between processes. The system releases it when its holder ends, even if the holder is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from typing import Callable

_POLL_INTERVAL_S = 0.2
_HELD_ERRNOS = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


class LockHeld(Exception):
    """Another process held the lock until the timeout. The text names that process."""


@contextlib.contextmanager
def locked(path: str, timeout_s: float, on_wait: Callable[[str], None]) -> Iterator[bool]:
    """Holds the lock file `path` while the block runs, then removes it. True, or False on a file system without locks.

    While another process holds the lock, this waits: it calls `on_wait` once with the name of that process, and raises
    LockHeld after `timeout_s`. If the file cannot be created, it raises the OSError at once.
    """
    end = time.monotonic() + timeout_s
    announced = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        state = _try_lock(descriptor)
        if state != "held" and _is_same_file(descriptor, path):
            break
        holder = _holder(descriptor)
        os.close(descriptor)
        if state != "held":
            continue  # its holder has removed this file meanwhile: try the next one
        if time.monotonic() > end:
            raise LockHeld(holder)
        if not announced:
            announced = True
            on_wait(holder)
        time.sleep(_POLL_INTERVAL_S)
    try:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield state == "ours"
    finally:
        with contextlib.suppress(OSError):  # Windows does not remove an open file
            os.unlink(path)
        os.close(descriptor)


def _try_lock(descriptor: int) -> str:
    """Tries to get the lock: "ours", "held" (by another process) or "none" (this file system has no locks)."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # Others cannot read bytes that are locked, so this locks one far behind the process number.
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return "held" if error.errno in _HELD_ERRNOS else "none"
    return "ours"


def _is_same_file(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def _holder(descriptor: int) -> str:
    try:
        return f"process {int(os.read(descriptor, 20))}"
    except (OSError, ValueError):
        return "another process"
