"""Root may read and write every file, so a test of permissions gives that power up for a while."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Linux: capget(2) and capset(2) of version 3, whose data is twice (effective, permitted, inheritable).
_VERSION_3 = 0x20080522
_HEADER, _DATA = struct.Struct("Ii"), struct.Struct("6I")


@contextlib.contextmanager
def bound_by_permissions() -> Iterator[None]:
    """In the block this thread may do what the modes of files say and no more, also if it is root's."""
    kept = _capabilities() if sys.platform == "linux" and os.geteuid() == 0 else None
    if kept is not None:
        _set_capabilities((0, kept[1], kept[2], 0, kept[4], kept[5]))
    try:
        assert not _reads_what_is_forbidden(), "this user may read every file"
        yield
    finally:
        if kept is not None:
            _set_capabilities(kept)


def _reads_what_is_forbidden() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        forbidden = Path(folder, "forbidden")
        forbidden.touch(0)
        try:
            forbidden.read_bytes()
        except PermissionError:
            return False
        return True


def _capabilities() -> tuple[int, ...]:
    data = ctypes.create_string_buffer(_DATA.size)
    _call("capget", data)
    return _DATA.unpack(data.raw)


def _set_capabilities(values: tuple[int, ...]) -> None:
    _call("capset", ctypes.create_string_buffer(_DATA.pack(*values), _DATA.size))


def _call(name: str, data: ctypes.Array[ctypes.c_char]) -> None:
    header = ctypes.create_string_buffer(_HEADER.pack(_VERSION_3, 0), _HEADER.size)
    if getattr(ctypes.CDLL(None, use_errno=True), name)(header, data) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
