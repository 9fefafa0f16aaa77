"""Tries a table on a CPU tensor before any consumer uses it: an export, an import, a refusal and the stream.

It calls the functions of the table as a consumer does. It asks no device.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable

from ._dlpack import (
    K_DL_CPU,
    K_DL_FLOAT,
    VERSION,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLTensor,
)
from ._layout import plain_tensors

# PYFUNCTYPE keeps the GIL and raises the exception that the function set.
_FROM_PY_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
_TO_PY_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))
_CURRENT_WORK_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_SHAPE, _STRIDES, _OFFSET = (2, 3), (12, 2), 5

# What a table may still use after a failed test. It is never freed, because a deleter may run late and read it.
_kept_alive: list[Any] = []


class _Failed(Exception):
    pass


def problem(torch: Any, table: int, *, ours: bool) -> str:
    """What is wrong with the table at address `table`, or "". Never raises. Afterwards no exception is set and no
    reference is left.

    `ours`: the table is one of ours, so the type of its exceptions is checked too.
    """
    api = DLPackExchangeAPI.from_address(table)
    try:
        with plain_tensors(torch):
            view = torch.empty(24, dtype=torch.float32, device="cpu").as_strided(_SHAPE, _STRIDES, _OFFSET)
            _test_export(api, view)
            _test_round_trip(api, torch, view)
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


def _check_fields(tensor: Any, view: Any) -> None:
    expected = {
        "data": view.data_ptr(),
        "device": _device_name(K_DL_CPU, 0),
        "dtype": _dtype_name(K_DL_FLOAT, 32, 1),
        "ndim": len(_SHAPE),
        "shape": tuple(view.shape),
        "strides": view.stride(),
    }
    for name, found in _read_fields(tensor).items():
        _expect(f"{name} of an exported tensor", found, expected[name])


def _test_export(api: Any, view: Any) -> None:
    out = DLTensor()
    _expect_success("dltensor_from_py_object_no_sync", _export_function(api)(view, ctypes.addressof(out)))
    _check_fields(out, view)


def _export_function(api: Any) -> Callable[[Any, int], int]:
    return _FROM_PY_OBJECT(api.dltensor_from_py_object_no_sync)


def _test_round_trip(api: Any, torch: Any, view: Any) -> None:
    """Exports a tensor and imports it again, with a deleter of ours that counts its calls in place of the table's own.
    Each deleter has to run once, ours when the last view of the imported tensor is gone."""
    address = ctypes.c_void_p()
    export_managed = _FROM_PY_OBJECT(api.managed_tensor_from_py_object_no_sync)
    references = sys.getrefcount(view)
    _expect_success("managed_tensor_from_py_object_no_sync", export_managed(view, ctypes.addressof(address)))
    if not address.value:
        raise _Failed("managed_tensor_from_py_object_no_sync returned 0, but no tensor")
    exported = DLManagedTensorVersioned.from_address(address.value)
    _expect("the major version of an exported tensor", exported.version.major, VERSION[0])
    _check_fields(exported.dl_tensor, view)

    deleted: list[int] = []
    deleter = _DELETER(deleted.append)
    wrapper = DLManagedTensorVersioned(exported.version, dl_tensor=exported.dl_tensor)
    wrapper.deleter = ctypes.cast(deleter, ctypes.c_void_p)
    _kept_alive.append((deleter, wrapper, exported))
    back = ctypes.py_object()
    import_function = _TO_PY_OBJECT(api.managed_tensor_to_py_object_no_sync)
    _expect_success("managed_tensor_to_py_object_no_sync", import_function(ctypes.addressof(wrapper), back))
    tensor = back.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(tensor))  # the function gave us a reference, which `back` does not drop
    back.value = None
    _expect("the type of an imported tensor", type(tensor), torch.Tensor)
    _expect("data of an imported tensor", tensor.data_ptr(), view.data_ptr())
    _expect("shape of an imported tensor", (tuple(tensor.shape), tensor.stride()), (tuple(view.shape), view.stride()))
    second = tensor.data  # a second view of the same memory
    del tensor
    _expect("calls of the deleter while a view is alive", len(deleted), 0)
    del second
    _expect("calls of the deleter after the last view", len(deleted), 1)
    _expect("the address that the deleter got", deleted[0], ctypes.addressof(wrapper))
    _kept_alive.pop()

    if exported.deleter:
        _DELETER(exported.deleter)(address.value)
    _expect("the reference count after an export", sys.getrefcount(view), references)


def _test_refusal(api: Any, ours: bool) -> None:
    out = DLTensor()
    try:
        rc = _export_function(api)(object(), ctypes.addressof(out))
    except Exception as error:
        if ours:
            _expect("the exception for an object that is not a tensor", type(error), TypeError)
        return
    raise _Failed(f"for an object that is not a tensor it returned {rc} without an exception, expected an exception")


def _test_stream(api: Any) -> None:
    stream = ctypes.c_void_p(1)
    _expect_success("current_work_stream", _CURRENT_WORK_STREAM(api.current_work_stream)(K_DL_CPU, 0, stream))
    _expect("the stream of a CPU", stream.value, None)
