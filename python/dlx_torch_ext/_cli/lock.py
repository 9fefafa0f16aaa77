"""A lock between processes that the system releases however its holder ends."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from typing import Callable

_INTERVAL_S = 0.2
_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


class Held(Exception):
    """Another process kept the lock for as long as the caller was ready to wait; the text names the process."""


@contextlib.contextmanager
def locked(path: str, patience_s: float, waiting: Callable[[str], None]) -> Iterator[bool]:
    """Holds the lock file `path` while the block runs, and removes it. True, or False on a file system without locks.

    Where another process holds it: calls `waiting` once with the word for that process, and raises Held after
    `patience_s`. A file that cannot be created is another matter, told at once by the OSError of doing so.
    """
    end = time.monotonic() + patience_s
    told = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        state = _try(descriptor)
        if state != "held" and _is(descriptor, path):
            break
        holder = _holder(descriptor)
        os.close(descriptor)
        if state != "held":
            continue  # the holder before us has removed the file: the next one counts
        if time.monotonic() > end:
            raise Held(holder)
        if not told:
            told = True
            waiting(holder)
        time.sleep(_INTERVAL_S)
    try:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield state == "ours"
    finally:
        with contextlib.suppress(OSError):  # Windows keeps an open file
            os.unlink(path)
        os.close(descriptor)


def _try(descriptor: int) -> str:
    """ "ours", "held" by another process, or "none": this file system has no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond what is written, so that others can read it
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return "held" if error.errno in _HELD else "none"
    return "ours"


def _is(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def _holder(descriptor: int) -> str:
    try:
        return f"process {int(os.read(descriptor, 20))}"
    except (OSError, ValueError):
        return "another process"
