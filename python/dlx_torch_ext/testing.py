"""Tests of a library that calls kernels, without the hardware: tensors that claim a device and answer as they are told.

    x = probe((2, 3), device=("cuda", 1), stream=0xBEEF0)
    launch(x, torch.empty_like(x))  # both are of x's type, and have its table
    assert x.probe.asked("current_work_stream")[0].device == (2, 1)

Any torch will do, and no library of ours is needed. CPython only.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, Callable, Mapping, NamedTuple, Optional, Tuple, Union

from ._capsule import _capsule_get_pointer, _capsule_new, make_capsule
from ._dlpack import (
    CAPSULE_ATTRIBUTE,
    FUNCTIONS,
    LEGACY_ATTRIBUTE,
    VERSION,
    DLDataType,
    DLDevice,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLPackVersion,
    DLTensor,
)

__all__ = ["Call", "Probe", "probe"]

_DEVICES = {"cpu": 1, "cuda": 2, "cuda_host": 3, "metal": 8, "rocm": 10, "rocm_host": 11, "ext_dev": 12, "npu": 12}
_NAMES = (*FUNCTIONS, "__dlpack__", "__dlpack_device__")

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
_kept: list[Any] = []  # what consumers may call as long as the process lives
_alive: dict[int, Any] = {}  # what a deleter ends, by its address

Fail = Mapping[str, Union[BaseException, int, None]]


class Call(NamedTuple):
    """What was asked: a function by DLPack's name, or "deleter"; for which device, or which one the answer claims; the
    stream that was answered, and that `__dlpack__` was given."""

    function: str
    device: Optional[Tuple[int, int]] = None
    shape: Optional[Tuple[int, ...]] = None
    stream: Optional[int] = None


class Probe:
    """What the tensors of one type answer and were asked. `stream` and `fail` may be changed."""

    def __init__(self, device: Tuple[int, int], dtype: Any, stream: int, fail: Fail) -> None:
        self.device, self.dtype, self.stream, self.fail = device, dtype, stream, dict(fail)
        self.calls: list[Call] = []

    def asked(self, function: str) -> list[Call]:
        """The calls of one function."""
        return [call for call in self.calls if call.function == function]

    def _ask(self, *call: Any) -> None:
        self.calls.append(Call(*call))
        told = self.fail.get(call[0])
        if isinstance(told, BaseException):
            raise told
        if told is not None:
            raise _Told(told)


class _Told(Exception):
    """The number that a function returns in place of its work."""


def probe(
    source: Any = (2, 3),
    device: Tuple[Union[str, int], int] = ("cuda", 1),
    stream: int = 0xBEEF0,
    *,
    dtype: Any = None,
    fail: Optional[Fail] = None,
    version: Tuple[int, int] = VERSION,
) -> Any:
    """A tensor in host memory, of a new subclass of torch.Tensor with a table and a `__dlpack__` of its own.

    - `source`: a shape, or a tensor in host memory, which is shared.
    - `device`: what it claims: a name or a DLDeviceType, and an index. To torch it is on the CPU.
    - `stream`: the answer of current_work_stream, for every device.
    - `dtype`: torch's, of new memory; or a DLDataType (code, bits, lanes) that is only claimed.
    - `fail`: by its name, what a function of the table or a method does in place of its work. An exception is set; the
      allocator gives it to SetError. A number is returned, with nothing set or written. None is NULL, if it is said here.
    - `version`: the DLPack version that the table claims.

    `.probe` of the tensor is its `Probe`. ValueError for arguments that make no sense.

    Who owns what: views, and what torch's functions make of the tensor, are of its type and share its `probe`. Type and
    table live as long as the process, since consumers keep them. A borrowed view ends with its tensor.

    Threads and the GIL: functions and deleters take the GIL, so any thread may call them until the interpreter ends;
    not while an exception is pending.
    """
    import torch

    for name, told in (fail or {}).items():
        if name not in _NAMES or not isinstance(told, (BaseException, int, type(None))):
            raise ValueError(f"fail[{name!r}] is {told!r}; an exception, a number or None for one of {_NAMES} is needed")
    kind, index = device
    if kind not in _DEVICES and type(kind) is not int:
        raise ValueError(f"the device {kind!r} is no DLDeviceType, and none of {tuple(_DEVICES)}")
    claimed = dtype if isinstance(dtype, tuple) else None
    if not isinstance(source, torch.Tensor):
        source = torch.zeros(source, dtype=None if claimed else dtype)
    elif source.device.type != "cpu" or dtype is not claimed:
        raise ValueError("a tensor must be in host memory and has its dtype; only a DLDataType can be claimed")
    answers = Probe((_DEVICES.get(kind, kind), index), claimed, stream, fail or {})  # type: ignore[call-overload]

    class ProbeTensor(torch.Tensor):  # type: ignore[misc]
        probe = answers

        def __dlpack_device__(self) -> Tuple[int, int]:
            answers._ask("__dlpack_device__", answers.device)
            return answers.device

        def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
            answers._ask("__dlpack__", answers.device, tuple(self.shape), stream)
            return _describe(answers, self)[0]

    table = _make_table(answers, ProbeTensor, version)
    setattr(ProbeTensor, CAPSULE_ATTRIBUTE, make_capsule(table))
    setattr(ProbeTensor, LEGACY_ATTRIBUTE, table)
    return source.as_subclass(ProbeTensor)


def _describe(probe: Probe, tensor: Any) -> Tuple[Any, DLTensor]:
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


def _make_table(probe: Probe, kind: Any, version: Tuple[int, int]) -> int:
    """The address of the table of a class."""

    def delete(address: int) -> None:
        probe.calls.append(Call("deleter"))
        _alive.pop(address, None)

    def drop_imported(address: int) -> None:
        source = _alive.pop(address).source
        if end := DLManagedTensorVersioned.from_address(source).deleter:
            _DELETER(end)(source)

    deleter, end_of_imported = _address(_DELETER(delete)), _address(_DELETER(drop_imported))

    def managed(tensor: DLTensor, *keeps: Any) -> int:
        made = DLManagedTensorVersioned(DLPackVersion(*VERSION), None, deleter, 0, tensor)
        _alive[ctypes.addressof(made)] = made, keeps
        return ctypes.addressof(made)

    def allocate(prototype: Any, out: Any) -> None:
        import torch

        like, ndim = prototype[0], prototype[0].ndim
        shape = tuple(like.shape[:ndim])
        probe._ask(FUNCTIONS[0], _pair(like.device), shape)
        numbers = (ctypes.c_int64 * ndim)
        sizes, strides = numbers(*shape), numbers(*(math.prod(shape[i + 1 :]) for i in range(ndim)))
        memory = torch.empty((math.prod(shape) * like.dtype.bits * like.dtype.lanes + 7) // 8, dtype=torch.uint8)
        made = DLTensor(memory.data_ptr(), like.device, ndim, like.dtype, sizes, strides, 0)
        out[0] = managed(made, memory)

    def allocate_or_report(prototype: Any, out: Any, context: Any, set_error: Any) -> None:
        try:
            allocate(prototype, out)
        except _Told:
            raise
        except BaseException as error:
            if set_error:
                _SET_ERROR(set_error)(context, type(error).__name__.encode(), str(error).encode())
            error.__traceback__ = None  # its frames hold the error
            raise _Told(-1) from None

    def export(tensor: Any, out: Any) -> None:
        probe._ask(FUNCTIONS[1], probe.device, tuple(tensor.shape))
        capsule, described = _describe(probe, tensor)
        out[0] = managed(described, capsule)

    def to_object(address: int, out: Any) -> None:
        import torch

        given = DLManagedTensorVersioned.from_address(address)
        if given.version.major != VERSION[0]:
            raise BufferError(f"DLPack {given.version.major}.{given.version.minor}; {VERSION[0]}.x is needed")
        tensor = given.dl_tensor
        probe._ask(FUNCTIONS[2], _pair(tensor.device), tuple(tensor.shape[: tensor.ndim]))
        legacy = _Legacy(tensor, address, end_of_imported)
        legacy.dl_tensor.device = DLDevice(1, 0)
        made = torch.utils.dlpack.from_dlpack(_capsule_new(ctypes.addressof(legacy), b"dltensor", None))
        _alive[ctypes.addressof(legacy)] = legacy
        made = made.as_subclass(kind)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        out[0] = id(made)

    def view(tensor: Any, out: Any) -> None:
        probe._ask(FUNCTIONS[3], probe.device, tuple(tensor.shape))
        _, described = _describe(probe, tensor)
        # The tensor keeps its sizes; those of the capsule end with that.
        sizes = (*described.shape[: described.ndim], *described.strides[: described.ndim])
        new = (ctypes.c_int64 * len(sizes))(*sizes)
        kept = vars(tensor).setdefault("_dlx_sizes", {}).setdefault(sizes, new)
        described.shape = ctypes.cast(kept, type(described.shape))
        described.strides = ctypes.cast(ctypes.addressof(kept) + 8 * described.ndim, type(described.strides))
        ctypes.memmove(out, ctypes.addressof(described), ctypes.sizeof(DLTensor))

    def current(device_type: int, device_id: int, out: Any) -> None:
        probe._ask(FUNCTIONS[4], (device_type, device_id), None, probe.stream)
        out[0] = probe.stream

    def checked(function: Callable[..., None]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            try:
                function(*arguments)
            except _Told as told:
                return int(told.args[0])
            except BaseException as error:
                return _failure(error.with_traceback(None))
            return 0

        return call

    table = DLPackExchangeAPI(DLPackVersion(*version))
    for name, callback, function in zip(FUNCTIONS, _KINDS, (allocate_or_report, export, to_object, view, current)):
        if probe.fail.get(name, 0) is not None:
            setattr(table, name, _address(callback(checked(function))))
    _kept.append(table)
    return ctypes.addressof(table)


def _address(callback: Any) -> Optional[int]:
    _kept.append(callback)
    return ctypes.cast(callback, ctypes.c_void_p).value


def _pair(device: DLDevice) -> Tuple[int, int]:
    return device.device_type, device.device_id


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


def _failure(error: BaseException) -> int:
    """-1, for a callback to return: `error` becomes the thread's exception when ctypes drops it.

    ctypes prints what a callback raises, and looks for an exception when its function has returned. It drops what the
    function returned after that. So this is an int whose end sets the exception: the tp_finalize of its class is
    PyObject_IsTrue, which calls __bool__ and leaves what that raises.
    """
    result: int = _failure_class()(-1)
    vars(result)["error"] = error
    return result


@functools.lru_cache(None)
def _failure_class() -> Any:
    # Of CPython's stable ABI: Py_tp_finalize; Py_TPFLAGS_DEFAULT, _BASETYPE and, for 3.9, _HAVE_FINALIZE.
    slots = (_Slot * 2)((80, _address(ctypes.pythonapi.PyObject_IsTrue)))
    spec = _Spec(b"dlx_torch_ext.testing.Failure", 0, 0, 1 << 18 | 1 << 10 | 1, slots)
    _kept.append(spec)  # CPython keeps a pointer to the name
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    base = prototype(("PyType_FromSpecWithBases", ctypes.pythonapi))(ctypes.addressof(spec), (int,))

    class Failure(base):  # type: ignore[misc, valid-type]
        def __bool__(self) -> bool:
            error = vars(self).pop("error", None)
            try:
                if error is not None:
                    raise error
                return True
            finally:
                del self, error  # the traceback would keep them

    return Failure
