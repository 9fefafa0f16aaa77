"""Asks the loader which library an address belongs to: the answer to 'whose table is this?'."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from ._record import Record


class Owner(Record):
    """The library that holds an address, and the exported symbol there; empty strings where the loader cannot tell."""

    library: str = ""
    symbol: str = ""


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("fname", ctypes.c_char_p),
        ("fbase", ctypes.c_void_p),
        ("sname", ctypes.c_char_p),
        ("saddr", ctypes.c_void_p),
    ]


def owner_of(address: int) -> Owner:
    """Who holds `address`. Never raises: a platform that cannot tell gives an empty Owner."""
    if not address:
        return Owner()
    try:
        return _by_module_handle(address) if sys.platform == "win32" else _by_dladdr(address)
    except (OSError, AttributeError, ValueError):
        return Owner()


def _by_dladdr(address: int) -> Owner:
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_DlInfo)]
    dladdr.restype = ctypes.c_int
    info = _DlInfo()
    if not dladdr(address, ctypes.byref(info)):
        return Owner()
    return Owner(os.fsdecode(info.fname or b""), (info.sname or b"").decode(errors="replace"))


def _by_module_handle(address: int) -> Owner:
    kernel32: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    from_address, unchanged_refcount = 4, 2
    module = ctypes.c_void_p()
    flags = from_address | unchanged_refcount
    if not kernel32.GetModuleHandleExW(flags, ctypes.c_void_p(address), ctypes.byref(module)):
        return Owner()
    path = ctypes.create_unicode_buffer(32768)
    if not kernel32.GetModuleFileNameW(module, path, len(path)):
        return Owner()
    return Owner(path.value)
