"""How a ctypes callback leaves an exception set, which ctypes itself would print and drop."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Optional

_kept: list[Any] = []  # what C may call or read as long as the process lives


def address_of(callback: Any) -> Optional[int]:
    _kept.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


def failure(error: BaseException) -> int:
    """-1, for a callback to return: `error` becomes the thread's exception when ctypes drops it.

    ctypes prints what a callback raises, and looks for an exception when its function has returned. It drops what the
    function returned after that. So this is an int whose end sets the exception: the tp_finalize of its class is
    PyObject_IsTrue, which calls __bool__ and leaves what that raises.
    """
    result: Any = _failure_class()(-1)
    result.__dict__["error"] = error
    return result  # type: ignore[no-any-return]


@functools.lru_cache(None)
def _failure_class() -> Any:
    # Of CPython's stable ABI: Py_tp_finalize; Py_TPFLAGS_DEFAULT, _BASETYPE and, for 3.9, _HAVE_FINALIZE.
    slots = (_Slot * 2)(_Slot(80, address_of(ctypes.pythonapi.PyObject_IsTrue)))
    spec = _Spec(b"dlx_torch_ext.testing.Failure", 0, 0, 1 << 18 | 1 << 10 | 1, slots)
    _kept.append(spec)  # CPython keeps a pointer to the name
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    base = prototype(("PyType_FromSpecWithBases", ctypes.pythonapi))(ctypes.addressof(spec), (int,))

    class Failure(base):  # type: ignore[misc, valid-type]
        def __bool__(self) -> bool:
            error = self.__dict__.pop("error", None)
            try:
                if error is not None:
                    raise error
                return True
            finally:
                del self, error  # the traceback would keep them

    return Failure
