"""Values that another package may put on torch.Tensor where a table belongs, and that are no table."""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any, Callable

from tests.support.structs import DLPackExchangeAPI

# Never freed: the values below are addresses and capsules of these.
_kept: list[Any] = []


class _Hostile:
    """Raises for whatever it is asked."""

    def _raise(self, *_: object) -> Any:
        raise LookupError("asked")

    __index__ = __int__ = __bool__ = __eq__ = __hash__ = _raise
    __class__ = property(_raise)


class _HostileInt(int):
    def _raise(self, *_: object) -> Any:
        raise LookupError("asked")

    __index__ = __int__ = __bool__ = __eq__ = __hash__ = _raise
    __lt__ = __le__ = __gt__ = __ge__ = __mod__ = __and__ = _raise


def _end_of_memory() -> int:
    """An address 16 bytes before a page that cannot be read."""
    page = mmap.PAGESIZE
    mapped = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    _kept.append(mapped)
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(address + page, page, 0) == 0
    ctypes.c_uint32.from_address(address + page - 16).value = 1  # the major version of a table
    return address + page - 16


def table(major: int = 1, function: int = 0) -> int:
    """The address of a table whose functions are all at the address `function`."""
    made = DLPackExchangeAPI()
    made.version.major = major
    for field in DLPackExchangeAPI._fields_[2:]:
        setattr(made, field[0], function)
    _kept.append(made)
    return ctypes.addressof(made)


def capsule(address: int, name: bytes = b"dlpack_exchange_api") -> Any:
    _kept.append(name)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(("PyCapsule_New", ctypes.pythonapi))(address, name, None)


_NUMBERS = (0, 1, -1, -8, 8, 0x10000, 0xDEADBEEF000, 2**47 - 8, 2**47, 2**63 - 8, 2**64 - 8, 2**64, 2**70)

NO_TABLES: dict[str, Callable[[], Any]] = {
    **{hex(number): functools.partial(int, number) for number in _NUMBERS},
    "True": lambda: True,
    "a table and one byte": lambda: table() + 1,
    "a table and 2**64": lambda: table() + 2**64,
    "minus a table": lambda: -table(),
    "the end of memory": _end_of_memory,
    "a table of version 2": lambda: table(2),
    "a subclass of int": lambda: _HostileInt(table()),
    "a hostile object": _Hostile,
    "text": lambda: "dlpack_exchange_api",
    "a property": lambda: property(lambda self: 1 / 0),
    "a float": lambda: float(table()),
    "a function": lambda: table,
    "a capsule of another name": lambda: capsule(table(), b"dltensor"),
}

# What is a table, although nobody may call its functions.
USELESS_TABLES: dict[str, Callable[[], Any]] = {
    "a capsule with version 2": lambda: capsule(table(2, 0xDEADBEEF000)),
    "a capsule without functions": lambda: capsule(table()),
    "a capsule with wild functions": lambda: capsule(table(1, 0xDEADBEEF000)),
    "an integer without functions": table,
    "an integer with wild functions": lambda: table(1, 0xDEADBEEF000),
}
