"""Tries a table on CPU tensors before any consumer uses it: exports, an import, a refusal and the stream.

It calls the functions of the table as a consumer does. It asks no device.

Other threads may look at this one at any time: profilers and watchdogs read the frames of all threads, and what they
find there lives until they let go of it. So nothing is decided by the reference count of an object that Python code
here holds.
"""

from __future__ import annotations

import ctypes
from typing import Any

from ._dlpack import (
    FUNCTIONS,
    K_DL_CPU,
    K_DL_FLOAT,
    VERSION,
    DLDataType,
    DLDevice,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLTensor,
)
from ._layout import plain_tensors

# PYFUNCTYPE keeps the GIL and raises the exception that the function set. Objects are passed as addresses.
_FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_CURRENT_WORK_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_TAKE_POINTER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_TYPE_OF = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)

_SHAPE, _STRIDES, _OFFSET = (2, 3), (12, 2), 5
_TRIES = 100

# What a table may still use after a failed test. It is never freed, because a deleter may run late and read it.
_kept_alive: dict[int, Any] = {}


class _Failed(Exception):
    pass


def problem(torch: Any, table: int, *, ours: bool) -> str:
    """What is wrong with the table at address `table`, or "". Never raises. Afterwards no exception is set and, if
    nothing is wrong, no reference is left.

    `ours`: the table is one of ours, so the type of its exceptions is checked too.
    """
    api = DLPackExchangeAPI.from_address(table)
    try:
        _test_entries(api)
        with plain_tensors(torch):
            view = torch.empty(24, dtype=torch.float32, device="cpu").as_strided(_SHAPE, _STRIDES, _OFFSET)
            described = _describe(view)
            _test_round_trips(api, torch, view, described)
            _test_export(api, id(view), _read_fields(described), "an exported")
            _test_refusal(api, ours)
            _test_stream(api)
    except _Failed as error:
        return f"the self-test failed: {error}"
    except Exception as error:
        return f"the self-test failed: {type(error).__name__}: {error}"
    return ""


def _expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise _Failed(f"{what}: {found}, expected {expected}")


def _expect_success(name: str, rc: int) -> None:
    if rc != 0:
        raise _Failed(f"{name} returned {rc} without an exception, expected 0")


def _read_fields(tensor: Any) -> dict[str, object]:
    ndim = tensor.ndim if 0 <= tensor.ndim <= len(_SHAPE) else 0
    return {
        "data": (tensor.data or 0) + tensor.byte_offset,
        "device": _device_name(tensor.device.device_type, tensor.device.device_id),
        "dtype": _dtype_name(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes),
        "ndim": tensor.ndim,
        "shape": tuple(tensor.shape[:ndim]) if tensor.shape else None,
        "strides": tuple(tensor.strides[:ndim]) if tensor.strides else None,
    }


def _device_name(device_type: int, index: int) -> str:
    return f"{'cpu' if device_type == K_DL_CPU else f'DLPack device type {device_type}'}:{index}"


def _dtype_name(code: int, bits: int, lanes: int) -> str:
    name = {0: "int", 1: "uint", K_DL_FLOAT: "float", 4: "bfloat", 5: "complex", 6: "bool"}.get(code)
    return f"{name or f'DLPack dtype code {code}, bits '}{bits}{'' if lanes == 1 else f' x {lanes} lanes'}"


def _check_fields(tensor: Any, expected: dict[str, object], which: str) -> None:
    for name, found in _read_fields(tensor).items():
        _expect(f"{name} of {which} tensor", found, expected[name])


def _describe(view: Any) -> DLTensor:
    numbers = ctypes.c_int64 * len(_SHAPE)
    cpu, float32 = DLDevice(K_DL_CPU, 0), DLDataType(K_DL_FLOAT, 32, 1)
    return DLTensor(view.data_ptr(), cpu, len(_SHAPE), float32, numbers(*view.shape), numbers(*view.stride()))


def _test_entries(api: Any) -> None:
    _expect("the major version of the table", api.version.major, VERSION[0])
    for name in FUNCTIONS:
        if not getattr(api, name):
            raise _Failed(f"the table has no {name}")


def _call(api: Any, name: str, first: int, second: Any) -> None:
    _expect_success(name, _FUNCTION(getattr(api, name))(first, ctypes.addressof(second)))


def _call_for_new(api: Any, name: str, source: int) -> int:
    """The address of what the function has made."""
    made = ctypes.c_void_p()
    _call(api, name, source, made)
    if not made.value:
        raise _Failed(f"{name} returned 0, but no tensor")
    return made.value


def _test_export(api: Any, tensor: int, expected: dict[str, object], which: str) -> None:
    out = DLTensor()
    _call(api, "dltensor_from_py_object_no_sync", tensor, out)
    _check_fields(out, expected, which)


def _test_round_trips(api: Any, torch: Any, view: Any, described: Any) -> None:
    """Imports the memory of `view` with a deleter of ours, and exports the new tensor. When all of that has ended, the
    deleter must have run once. Any reference that a function leaks or drops too often changes this.

    Another thread cannot change it. The new tensor is in no frame, because only C functions get it, by its address. Who
    lists all objects of the garbage collector finds it and may delay its end, in this try. A leak does so in every try.
    """
    for _ in range(_TRIES):
        calls: list[int] = []
        deleter = _TAKE_POINTER(calls.append)
        managed = DLManagedTensorVersioned(api.version, dl_tensor=described)
        managed.deleter = ctypes.cast(deleter, ctypes.c_void_p)
        address = ctypes.addressof(managed)
        _kept_alive[address] = (view, described, deleter, managed)
        _round_trip(api, torch, managed, calls)
        if calls:
            break
    _expect("calls of the deleter after the last view", len(calls), 1)
    _expect("the address that the deleter got", calls[0], address)
    del _kept_alive[address]


def _round_trip(api: Any, torch: Any, managed: Any, calls: list[int]) -> None:
    """Imports `managed`, whose deleter records its `calls`, and exports the new tensor twice."""
    expected = _read_fields(managed.dl_tensor)
    take, drop = _TAKE_POINTER(("Py_IncRef", ctypes.pythonapi)), _TAKE_POINTER(("Py_DecRef", ctypes.pythonapi))
    tensor = _call_for_new(api, "managed_tensor_to_py_object_no_sync", ctypes.addressof(managed))
    _expect("the type of an imported tensor", _TYPE_OF(("PyObject_Type", ctypes.pythonapi))(tensor), torch.Tensor)
    take(tensor)  # the first export and its end must leave this reference alone; the second one is the last holder
    _test_export(api, tensor, expected, "an imported and exported")
    for _ in range(2):
        _expect("calls of the deleter while a view is alive", len(calls), 0)
        address = _call_for_new(api, "managed_tensor_from_py_object_no_sync", tensor)
        exported = DLManagedTensorVersioned.from_address(address)
        _expect("the major version of an exported tensor", exported.version.major, VERSION[0])
        _check_fields(exported.dl_tensor, expected, "an imported and exported")
        drop(tensor)
        _expect("calls of the deleter while an export is alive", len(calls), 0)
        if exported.deleter:
            _TAKE_POINTER(exported.deleter)(address)


def _test_refusal(api: Any, ours: bool) -> None:
    out = DLTensor()
    try:
        rc = _FUNCTION(api.dltensor_from_py_object_no_sync)(id(object), ctypes.addressof(out))
    except Exception as error:
        if ours:
            _expect("the exception for an object that is not a tensor", type(error), TypeError)
        return
    raise _Failed(f"for an object that is not a tensor it returned {rc} without an exception, expected an exception")


def _test_stream(api: Any) -> None:
    stream = ctypes.c_void_p(1)
    _expect_success("current_work_stream", _CURRENT_WORK_STREAM(api.current_work_stream)(K_DL_CPU, 0, stream))
    _expect("the stream of a CPU", stream.value, None)
