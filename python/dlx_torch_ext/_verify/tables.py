"""Calls the functions of a table as a consumer does: with the GIL, and with addresses for objects."""

from __future__ import annotations

import ctypes
from typing import Any

from .._dlpack import DLManagedTensorVersioned, DLPackExchangeAPI
from .runtimes import Failed

_TWO = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)  # raises the exception that the function set
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)
_DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_UNTOUCHED = 0xF00D


class Table:
    """The table at `address`. `name`: what the report calls it. `ours`: it promises what ours do."""

    def __init__(self, name: str, address: int, *, ours: bool) -> None:
        self.name, self.ours = name, ours
        self._api = DLPackExchangeAPI.from_address(address)

    def stream(self, device_type: int, index: int) -> int:
        out = ctypes.c_void_p(_UNTOUCHED)
        _succeeded(
            "current_work_stream", _STREAM(self._api.current_work_stream)(device_type, index, ctypes.addressof(out))
        )
        if out.value == _UNTOUCHED:
            raise Failed("current_work_stream returned 0 and no stream")
        return out.value or 0

    def export(self, tensor: Any) -> Any:
        """A managed tensor, which `delete` or `to_torch` takes."""
        return self._new("managed_tensor_from_py_object_no_sync", id(tensor))

    def delete(self, managed: Any) -> None:
        if managed.deleter:
            _DELETER(managed.deleter)(ctypes.addressof(managed))

    def to_torch(self, managed: Any) -> Any:
        out = ctypes.c_void_p()
        name = "managed_tensor_to_py_object_no_sync"
        _succeeded(name, _TWO(getattr(self._api, name))(ctypes.addressof(managed), ctypes.addressof(out)))
        made = ctypes.cast(out, ctypes.py_object).value
        ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_DecRef", ctypes.pythonapi))(made)
        return made

    def _new(self, name: str, source: int) -> Any:
        out = ctypes.c_void_p()
        _succeeded(name, _TWO(getattr(self._api, name))(source, ctypes.addressof(out)))
        if not out.value:
            raise Failed(f"{name} returned 0 and no tensor")
        return DLManagedTensorVersioned.from_address(out.value)


def _succeeded(name: str, rc: int) -> None:
    if rc != 0:
        raise Failed(f"{name} returned {rc} without an exception")
