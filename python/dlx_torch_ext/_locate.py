"""Asks the system's loader which library an address lies in: the answer to "whose table is this?"."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from ._record import Record


class Location(Record):
    """The library that an address lies in, and the exported symbol there; "" for what the loader does not know."""

    library: str = ""
    symbol: str = ""


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("fname", ctypes.c_char_p),
        ("fbase", ctypes.c_void_p),
        ("sname", ctypes.c_char_p),
        ("saddr", ctypes.c_void_p),
    ]


def locate(address: int) -> Location:
    """Where `address` lies. Never raises: an empty Location if the loader does not know."""
    if not address:
        return Location()
    try:
        return _by_module_handle(address) if sys.platform == "win32" else _by_dladdr(address)
    except (OSError, AttributeError, ValueError):
        return Location()


def _by_dladdr(address: int) -> Location:
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_DlInfo)]
    dladdr.restype = ctypes.c_int
    info = _DlInfo()
    if not dladdr(address, ctypes.byref(info)):
        return Location()
    return Location(os.fsdecode(info.fname or b""), (info.sname or b"").decode(errors="replace"))


def _by_module_handle(address: int) -> Location:
    kernel32: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    from_address, unchanged_refcount = 4, 2
    module = ctypes.c_void_p()
    flags = from_address | unchanged_refcount
    if not kernel32.GetModuleHandleExW(flags, ctypes.c_void_p(address), ctypes.byref(module)):
        return Location()
    path = ctypes.create_unicode_buffer(32768)
    if not kernel32.GetModuleFileNameW(module, path, len(path)):
        return Location()
    return Location(path.value)
