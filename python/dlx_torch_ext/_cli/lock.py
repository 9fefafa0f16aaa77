"""A lock between processes. The system releases it when its holder ends, even if the holder is killed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from typing import Callable

_POLL_INTERVAL_S = 0.2
_MAX_DIGITS = 20
_HELD_ERRNOS = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)

# Descriptors of the locks that this process holds. A forked child inherits them, and with them the locks, which would
# then be held until it ends: it closes them.
_held: set[int] = set()


class LockHeld(Exception):
    """Another process held the lock until the timeout. The text names that process."""


class NotALock(Exception):
    """Something else has the name of the lock file. The text says what, and what to do."""


@contextlib.contextmanager
def locked(path: str, timeout_s: float, on_wait: Callable[[str], None]) -> Iterator[bool]:
    """Holds the lock file `path` while the block runs, then removes it. True, or False on a file system without locks.

    While another process holds the lock, this waits: it calls `on_wait` once with the name of that process, and raises
    LockHeld after `timeout_s`. If the file cannot be created, it raises the OSError at once; if something else is
    there, NotALock, and that stays as it is. A program that is started meanwhile does not inherit the lock, and a
    forked child gives it up.
    """
    end = time.monotonic() + timeout_s
    announced = False
    while True:
        descriptor = _open(path)
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
    _held.add(descriptor)
    try:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield state == "ours"
    finally:
        if descriptor in _held:  # not in a child that was forked in the block
            _held.remove(descriptor)
            with contextlib.suppress(OSError):  # Windows does not remove an open file
                os.unlink(path)
            os.close(descriptor)


def _close_in_child() -> None:
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


def _open(path: str) -> int:
    """A descriptor of the lock file. Somebody may have put something else there: a link to a file, which would then be
    emptied, or a FIFO, which would be waited for."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        if os.path.islink(path):
            raise NotALock(f"{path} is a symbolic link, not a lock: remove it") from None
        raise
    kind = _what_else(descriptor)
    if kind:
        os.close(descriptor)
        raise NotALock(f"{path} is {kind}, not a lock: remove it")
    return descriptor


def _what_else(descriptor: int) -> str:
    """What the file is, or "" for a lock: a regular file that has one name, and is empty or holds a number."""
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        return "not a regular file"
    if state.st_nlink > 1:
        return "one of several names of a file"
    content = os.read(descriptor, _MAX_DIGITS + 1)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return "" if not content or (content.isdigit() and len(content) <= _MAX_DIGITS) else "a file with other content"


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
        return f"process {int(os.read(descriptor, _MAX_DIGITS))}"
    except (OSError, ValueError):
        return "another process"
