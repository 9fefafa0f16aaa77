"""Makes and reads the PyCapsule that holds a table. Uses CPython's C API, so it is imported on CPython only."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

from ._dlpack import CAPSULE_ATTRIBUTE, VERSION, DLPackExchangeAPI, attribute_of

# Functions of our own: those of ctypes.pythonapi belong to the whole process, and anybody may set their argtypes.
_take_reference = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_capsule_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

# A capsule keeps a pointer to its name, not a copy. At interpreter exit torch.Tensor may live longer than this module,
# so this adds a reference to the name that nobody ever removes.
_CAPSULE_NAME = b"dlpack_exchange_api"
_take_reference(_CAPSULE_NAME)


def make_capsule(address: int) -> object:
    """A capsule with the table at `address`. It has no destructor: the table must live as long as the process."""
    return _capsule_new(address, _CAPSULE_NAME, None)


def table_address(value: Any) -> int:
    """The address of the table in `value`, a capsule or the legacy integer; 0 if `value` is neither.

    Never raises. Anybody may have set the integer to anything, so it counts only if a table can be read there.
    """
    if type(value) is int:
        return value if _is_table(value) else 0
    held = ctypes.py_object(value)  # ctypes would ask any other argument for its class, which may raise
    return _capsule_get_pointer(held, _CAPSULE_NAME) or 0 if _capsule_is_valid(held, _CAPSULE_NAME) else 0


def _is_table(address: int) -> bool:
    size = ctypes.sizeof(DLPackExchangeAPI)
    memory = _read_memory(address, size) if 0 < address <= sys.maxsize else b""
    return len(memory) == size and DLPackExchangeAPI.from_buffer_copy(memory).version.major == VERSION[0]


def _read_memory(address: int, size: int) -> bytes:
    """What is in memory at `address`; less than `size` bytes where that cannot be read or the system cannot tell."""
    if sys.platform == "win32":
        return b""
    try:
        reader, writer = os.pipe()
    except OSError:
        return b""
    try:
        # The system copies the memory. It refuses an address where a read of our own would end the process.
        write = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        written = write(("write", ctypes.CDLL(None)))(writer, address, size)
        return os.read(reader, size) if written > 0 else b""
    finally:
        os.close(reader)
        os.close(writer)


def table_on(torch: Any) -> int:
    """The address of the table on torch.Tensor now, whoever put it there; 0 if there is none."""
    value = attribute_of(getattr(torch, "Tensor", None), CAPSULE_ATTRIBUTE)
    return table_address(value) if value is not None else 0
