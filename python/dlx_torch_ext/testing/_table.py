"""The table of a probe's class: the five functions in ctypes, over the host memory of the tensors."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, Callable, Tuple

from .._capsule import _capsule_get_pointer, _capsule_new
from .._dlpack import (
    FUNCTIONS,
    VERSION,
    DLDataType,
    DLDevice,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLPackVersion,
    DLTensor,
)
from ._answers import Call, Probe, Told
from ._failure import address_of, failure

_OUT = ctypes.POINTER(ctypes.c_void_p)
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# With the GIL: it may set an exception, which ctypes then raises.
_SET_ERROR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_function = functools.partial(ctypes.CFUNCTYPE, ctypes.c_int)
_KINDS = (
    _function(ctypes.POINTER(DLTensor), _OUT, ctypes.c_void_p, ctypes.c_void_p),
    _function(ctypes.py_object, _OUT),
    _function(ctypes.c_void_p, _OUT),
    _function(ctypes.py_object, ctypes.POINTER(DLTensor)),
    _function(ctypes.c_int32, ctypes.c_int32, _OUT),
)
_alive: dict[int, Any] = {}  # what a deleter ends, by its address
_tables: list[Any] = []  # what consumers may read as long as the process lives


def describe(probe: Probe, tensor: Any) -> Tuple[Any, DLTensor]:
    """torch's own legacy capsule, and what is in it, which says what the probe claims."""
    import torch

    if tensor.is_conj() or tensor.is_neg():
        raise BufferError("the memory of a conjugate or negative view is not what it says")
    capsule = torch.utils.dlpack.to_dlpack(tensor.detach())
    described = DLTensor.from_address(_capsule_get_pointer(capsule, b"dltensor"))
    described.device = DLDevice(*probe.device)
    if probe.dtype:
        described.dtype = DLDataType(*probe.dtype)
    return capsule, described


class _Legacy(ctypes.Structure):  # DLManagedTensor, which every torch takes
    _fields_ = [("dl_tensor", DLTensor), ("source", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def make_table(probe: Probe, kind: Any, version: Tuple[int, int]) -> int:
    """The address of the table of a class."""

    def delete(address: int) -> None:
        probe.calls.append(Call("deleter"))
        _alive.pop(address, None)

    def drop_imported(address: int) -> None:
        source = _alive.pop(address).source
        if end := DLManagedTensorVersioned.from_address(source).deleter:
            _DELETER(end)(source)

    deleter, end_of_imported = address_of(_DELETER(delete)), address_of(_DELETER(drop_imported))

    def managed(tensor: DLTensor, *keeps: Any) -> int:
        made = DLManagedTensorVersioned(DLPackVersion(*VERSION), None, deleter, 0, tensor)
        _alive[ctypes.addressof(made)] = made, keeps
        return ctypes.addressof(made)

    def allocate(prototype: Any, out: Any) -> None:
        import torch

        like, ndim = prototype[0], prototype[0].ndim
        shape = tuple(like.shape[:ndim])
        probe.ask(FUNCTIONS[0], _pair(like.device), shape)
        numbers = ctypes.c_int64 * ndim
        sizes, strides = numbers(*shape), numbers(*(math.prod(shape[i + 1 :]) for i in range(ndim)))
        memory = torch.empty((math.prod(shape) * like.dtype.bits * like.dtype.lanes + 7) // 8, dtype=torch.uint8)
        made = DLTensor(memory.data_ptr(), like.device, ndim, like.dtype, sizes, strides, 0)
        out[0] = managed(made, memory)

    def allocate_or_report(prototype: Any, out: Any, context: Any, set_error: Any) -> None:
        try:
            allocate(prototype, out)
        except Told:
            raise
        except BaseException as error:
            if set_error:
                _SET_ERROR(set_error)(context, type(error).__name__.encode(), str(error).encode())
            error.__traceback__ = None  # its frames hold the error
            raise Told(-1) from None

    def export(tensor: Any, out: Any) -> None:
        probe.ask(FUNCTIONS[1], probe.device, tuple(tensor.shape))
        capsule, described = describe(probe, tensor)
        out[0] = managed(described, capsule)

    def to_object(address: int, out: Any) -> None:
        import torch

        given = DLManagedTensorVersioned.from_address(address)
        if given.version.major != VERSION[0]:
            raise BufferError(f"DLPack {given.version.major}.{given.version.minor}; {VERSION[0]}.x is needed")
        tensor = given.dl_tensor
        probe.ask(FUNCTIONS[2], _pair(tensor.device), tuple(tensor.shape[: tensor.ndim]))
        legacy = _Legacy(tensor, address, end_of_imported)
        legacy.dl_tensor.device = DLDevice(1, 0)
        made = torch.utils.dlpack.from_dlpack(_capsule_new(ctypes.addressof(legacy), b"dltensor", None))
        _alive[ctypes.addressof(legacy)] = legacy
        made = made.as_subclass(kind)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        out[0] = id(made)

    def view(tensor: Any, out: Any) -> None:
        probe.ask(FUNCTIONS[3], probe.device, tuple(tensor.shape))
        _, described = describe(probe, tensor)
        # The tensor keeps its sizes; those of the capsule end with that.
        sizes = (*described.shape[: described.ndim], *described.strides[: described.ndim])
        new = (ctypes.c_int64 * len(sizes))(*sizes)
        kept = vars(tensor).setdefault("_dlx_sizes", {}).setdefault(sizes, new)
        described.shape = ctypes.cast(kept, type(described.shape))
        described.strides = ctypes.cast(ctypes.addressof(kept) + 8 * described.ndim, type(described.strides))
        ctypes.memmove(out, ctypes.addressof(described), ctypes.sizeof(DLTensor))

    def current(device_type: int, device_id: int, out: Any) -> None:
        probe.ask(FUNCTIONS[4], (device_type, device_id), None, probe.stream)
        out[0] = probe.stream

    def checked(function: Callable[..., None]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            try:
                function(*arguments)
            except Told as told:
                return int(told.args[0])
            except BaseException as error:
                return failure(error.with_traceback(None))
            return 0

        return call

    table = DLPackExchangeAPI(DLPackVersion(*version))
    functions: Tuple[Callable[..., None], ...] = (allocate_or_report, export, to_object, view, current)
    for name, callback, function in zip(FUNCTIONS, _KINDS, functions):
        if probe.fail.get(name, 0) is not None:
            setattr(table, name, address_of(callback(checked(function))))
    _tables.append(table)
    return ctypes.addressof(table)


def _pair(device: DLDevice) -> Tuple[int, int]:
    return device.device_type, device.device_id
