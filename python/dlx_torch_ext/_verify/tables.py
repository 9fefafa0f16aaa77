"""Calls the functions of a table as a consumer does: with the GIL, and with addresses for objects."""

from __future__ import annotations

import ctypes
from typing import Any

from .._dlpack import DLDataType, DLDevice, DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor
from .._load import Library
from .._status import Status
from .outcome import Failed

DLX, OVERLAY, UPSTREAM = "dlx", "overlay", "upstream"

_TWO = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)  # raises the exception that the function set
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)
_DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, _SET_ERROR)
_UINT8 = DLDataType(1, 8, 1)
_UNTOUCHED = 0xF00D


class Table:
    """The table at `address`. `name`: its provider. `counts`: it is in use, or ours, so that it has to be right."""

    def __init__(self, name: str, address: int, *, counts: bool) -> None:
        self.name, self.counts = name, counts
        self.api = DLPackExchangeAPI.from_address(address)

    def stream(self, device_type: int, index: int) -> int:
        out = ctypes.c_void_p(_UNTOUCHED)
        name = "current_work_stream"
        _succeeded(name, _STREAM(self.api.current_work_stream)(device_type, index, ctypes.addressof(out)))
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
        _succeeded(name, _TWO(getattr(self.api, name))(ctypes.addressof(managed), ctypes.addressof(out)))
        made = ctypes.cast(out, ctypes.py_object).value
        ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_DecRef", ctypes.pythonapi))(made)
        return made

    def allocate(self, device_type: int, index: int, size: int) -> Any:
        """A managed tensor of `size` bytes. Without the GIL, as consumers may do."""
        shape, out, said = (ctypes.c_int64 * 1)(size), ctypes.c_void_p(), []
        prototype = DLTensor(None, DLDevice(device_type, index), 1, _UINT8, shape, None, 0)
        set_error = _SET_ERROR(lambda _, kind, text: said.append(f"{kind.decode()}: {text.decode(errors='replace')}"))
        function = _ALLOCATE(self.api.managed_tensor_allocator)
        rc = function(ctypes.addressof(prototype), ctypes.addressof(out), None, set_error)
        if rc != 0 or not out.value:
            raise Failed(f"managed_tensor_allocator returned {rc} and {said[0] if said else 'no error'}")
        return DLManagedTensorVersioned.from_address(out.value)

    def _new(self, name: str, source: int) -> Any:
        out = ctypes.c_void_p()
        _succeeded(name, _TWO(getattr(self.api, name))(source, ctypes.addressof(out)))
        if not out.value:
            raise Failed(f"{name} returned 0 and no tensor")
        return DLManagedTensorVersioned.from_address(out.value)


def here(torch: Any, status: Status) -> list[Table]:
    """The table of torch.Tensor and, where torch has its own, the other one of that and ours. A library of ours that is
    not in use is loaded for it, and not attached."""
    from .. import _attach, _facts

    in_use = _facts.read(torch, "").table
    if in_use is None:
        raise Failed("torch.Tensor has no DLPack exchange table any more")
    tables = [Table(status.provider, in_use.address, counts=True)]
    facts = _attach.facts_without_ours(torch, "")
    if status.provider in (DLX, OVERLAY):
        return [*tables, Table(UPSTREAM, facts.table.address, counts=False)] if facts.table else tables
    asked = facts.replace(settings=facts.settings.replace(prefer=DLX))
    for candidate in _attach.decide(asked).accepted:
        library = _attach.load_and_check(torch, asked, candidate) if candidate.provider in (DLX, OVERLAY) else None
        if isinstance(library, Library):
            return [*tables, Table(candidate.provider, library.table, counts=True)]
    return tables


def _succeeded(name: str, rc: int) -> None:
    if rc != 0:
        raise Failed(f"{name} returned {rc} without an exception")
