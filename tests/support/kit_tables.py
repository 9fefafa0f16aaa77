"""Tensor types with a table that a test has changed: a copy of torch's, on a subclass of torch.Tensor."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import torch
from dlx_torch_ext._capsule import make_capsule, table_address

from tests.support.structs import ALLOCATOR, DELETER, DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor

HAS_TABLE = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))

# C code keeps addresses of what is in here until the process ends.
_kept: list[Any] = []


def keep(value: Any) -> Any:
    _kept.append(value)
    return value


def address(function: Any) -> int:
    """That of a ctypes callback, which lives until the process ends."""
    found = ctypes.cast(keep(function), ctypes.c_void_p).value
    assert found
    return found


def copied_table(**changed: Any) -> Any:
    """torch's table with other functions (addresses, or None for NULL), `prev_api`, `major`."""
    table = keep(DLPackExchangeAPI())
    source = table_address(torch.Tensor.__dlpack_c_exchange_api__)
    ctypes.memmove(ctypes.addressof(table), source, ctypes.sizeof(table))
    if "major" in changed:
        table.version.major = changed.pop("major")
    for name, value in changed.items():
        setattr(table, name, value)
    return table


def tensor_type(attribute: object = None, **changed: Any) -> Any:
    """A subclass of torch.Tensor whose table is `attribute`, or torch's with these changes."""
    value = make_capsule(ctypes.addressof(copied_table(**changed))) if attribute is None else attribute
    return type("Changed", (torch.Tensor,), {"__dlpack_c_exchange_api__": value})


def of_type(kind: Any, *sizes: int) -> Any:
    return torch.ones(*sizes).as_subclass(kind)


def on_device(device_type: int, index: int, stream: Callable[[int, int], int] | None = None) -> Any:
    """A type whose tensors, in host memory, say that they are on this device; `stream` answers for the stream."""
    view = VIEW(table_of(torch.Tensor).dltensor_from_py_object_no_sync)

    def moved(tensor: Any, out: Any) -> int:
        result = int(view(tensor, out))
        out[0].device.device_type, out[0].device.device_id = device_type, index
        return result

    def current(asked_type: int, asked_index: int, out: Any) -> int:
        out[0] = stream(asked_type, asked_index) if stream else 0
        return 0

    return tensor_type(
        dltensor_from_py_object_no_sync=address(VIEW(moved)), current_work_stream=address(STREAM(current))
    )


def counting_allocator(deleted: list[int]) -> int:
    """The address of torch's allocator, whose tensors add to `deleted` when their deleter runs."""
    allocate = ALLOCATOR(table_of(torch.Tensor).managed_tensor_allocator)

    def counted(prototype: Any, out: Any, context: Any, set_error: Any) -> int:
        result = int(allocate(prototype, out, context, set_error))
        managed = DLManagedTensorVersioned.from_address(out[0])
        delete = DELETER(managed.deleter)

        def deleter(tensor: int) -> None:
            deleted.append(1)
            delete(tensor)

        managed.deleter = address(DELETER(deleter))
        return result

    return address(ALLOCATOR(counted))


def table_of(kind: Any) -> Any:
    return DLPackExchangeAPI.from_address(table_address(kind.__dlpack_c_exchange_api__))
