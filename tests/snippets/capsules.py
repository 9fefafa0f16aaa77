"""Capsules of this package whose module is gone, and its import beside others who use ctypes.pythonapi."""

from __future__ import annotations

import ctypes
import gc
import sys


def valid_without_the_module() -> bool:
    """Whether a capsule is still found by its name after the module that made it has been freed."""
    from dlx_torch_ext import _capsule

    address = ctypes.addressof(ctypes.create_string_buffer(8))
    capsule = _capsule.make_capsule(address)
    del sys.modules["dlx_torch_ext._capsule"], sys.modules["dlx_torch_ext"]._capsule, _capsule
    gc.collect()
    is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
    return bool(is_valid(("PyCapsule_IsValid", ctypes.pythonapi))(capsule, b"dlpack_exchange_api"))


def importable_beside_other_argtypes() -> str:
    """The functions of ctypes.pythonapi, which belong to the whole process, take other arguments than ours do."""
    for name in ("Py_IncRef", "PyCapsule_New", "PyCapsule_IsValid", "PyCapsule_GetPointer"):
        getattr(ctypes.pythonapi, name).argtypes = [ctypes.c_wchar_p] * 4
    from dlx_torch_ext import _capsule

    assert _capsule.table_address(_capsule.make_capsule(64)) == 64
    return "imported"
