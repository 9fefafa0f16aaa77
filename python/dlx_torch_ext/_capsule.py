"""Makes and reads the PyCapsule that holds a table. Uses CPython's C API, so it is imported on CPython only."""

from __future__ import annotations

import ctypes
from typing import Any

# A capsule keeps a pointer to its name, not a copy. At interpreter exit torch.Tensor may live longer than this module,
# so this adds a reference to the name that nobody ever removes.
_CAPSULE_NAME = b"dlpack_exchange_api"
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_CAPSULE_NAME))

# Functions of our own, because setting argtypes on those of ctypes.pythonapi would change them for the whole process.
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_capsule_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def make_capsule(address: int) -> object:
    """A capsule with the table at `address`. It has no destructor: the table must live as long as the process."""
    return _capsule_new(address, _CAPSULE_NAME, None)


def table_address(value: Any) -> int:
    """The address of the table in `value`, a capsule or the legacy integer; 0 if `value` is neither."""
    if isinstance(value, int):
        plausible = value > 0xFFFF and value % ctypes.alignment(ctypes.c_void_p) == 0
        return value if plausible else 0
    if _capsule_is_valid(value, _CAPSULE_NAME):
        return _capsule_get_pointer(value, _CAPSULE_NAME) or 0
    return 0
