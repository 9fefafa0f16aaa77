"""A fake torch: a module with the facts that a test needs, and tensors with the memory layout of real ones.

`torch()` makes a module to pass as an argument or to put into sys.modules. With `whole=True` its Tensor has the layout
of its release line, and the tables of stub.c work on it: layout check, self-test and attaching run as with a real one.
"""

from __future__ import annotations

import ctypes
import types
from typing import Any, Callable

from tests.support import stub
from tests.support.structs import CPU, DELETER, DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor

# Never freed, because C code may read it after the call that it was made for.
_kept: list[Any] = []


def torch(
    version: str | None = "2.9.1+cpu",
    *,
    cuda: str | None = None,
    hip: str | None = None,
    version_names: tuple[str, ...] = ("cuda", "hip"),
    cxx11_abi: bool | None = True,
    available: tuple[str, ...] = (),
    interfaces: tuple[str, ...] = ("cuda",),
    devices: int | None = None,
    shim: bool = False,
    own_table: object = None,
    whole: bool = False,
) -> Any:
    """A fake torch. `version_names`: the attributes that torch.version has. `interfaces`: which of torch.cuda and
    torch.npu exist; `available`: which of them say that they are available. `devices`: how many devices of CUDA or ROCm
    torch's C extension counts; None: it has no such function. `shim`: torch.cuda.is_available is torch_npu's.
    `own_table`: the value of the attribute on torch.Tensor, if torch has a table of its own. `torch.questions` records
    every question to a device."""
    module: Any = types.ModuleType("torch")
    if version is not None:
        module.__version__ = version
    module.version = types.SimpleNamespace(**{name: {"cuda": cuda, "hip": hip}[name] for name in version_names})
    module.questions = []
    for name in interfaces:
        setattr(module, name, types.SimpleNamespace(is_available=_asked(module, name, name in available)))
    if shim:
        module.cuda.is_available.__module__ = "torch_npu.npu"
    module._C = types.SimpleNamespace()
    if devices is not None:
        module._C._cuda_getDeviceCount = lambda: devices
    if cxx11_abi is not None:
        module.compiled_with_cxx11_abi = lambda: cxx11_abi
    module.Tensor = type("Tensor", (), {})
    if whole:
        _make_whole(module, words=4 if _line(version) < (2, 10) else 3)
    if own_table is not None:
        module.Tensor.__dlpack_c_exchange_api__ = own_table
        module._C._dlpack_exchange_api = lambda: own_table
    return module


def torch_with_own_table(version: str, foreign: bool = False) -> Any:
    """A whole torch with a correct table on its class: its own one or, if `foreign`, another package's."""
    from dlx_torch_ext._capsule import make_capsule

    module = torch(version, whole=True)
    library = ctypes.PyDLL(str(stub.compiled()))
    library.dlx_torch_exchange_api.restype = ctypes.c_void_p
    table = make_capsule(library.dlx_torch_exchange_api(object.__basicsize__))
    module.Tensor.__dlpack_c_exchange_api__ = table
    if not foreign:
        module._C._dlpack_exchange_api = lambda: table
    return module


def _asked(module: Any, name: str, answer: bool) -> Callable[[], bool]:
    def is_available() -> bool:
        module.questions.append(name)
        return answer

    return is_available


def _line(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (version or "0.0").split(".")[:2])


class _Storage:
    """Memory that several views share. `finish` is called when the last view is gone."""

    def __init__(self, address: int, finish: Callable[[], object]) -> None:
        self.address = address
        self.finish = finish

    def __del__(self) -> None:
        self.finish()


def _make_whole(module: Any, words: int) -> None:
    # The slots are the words behind PyObject. A real tensor has the pointer to its TensorImpl in one of them; this one
    # has a pointer to a _Storage there, whose address is also `_cdata`.
    names = [f"word{i}" for i in range(words)]
    base = type("TensorBase", (), {"__slots__": tuple(names)})
    held = names[1] if words == 4 else names[0]

    class Tensor(base):  # type: ignore[misc, valid-type]
        def __init__(self, storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
            setattr(self, held, storage)
            self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

        @property
        def _cdata(self) -> int:
            return id(getattr(self, held))

        def as_strided(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int | None = None) -> Tensor:
            return Tensor(self.storage, self.offset if offset is None else offset, shape, strides)

        def data_ptr(self) -> int:
            return self.storage.address + 4 * self.offset

        def stride(self) -> tuple[int, ...]:
            return self.strides

    def empty(count: int, **_: object) -> Tensor:
        memory = (ctypes.c_float * count)()
        return Tensor(_Storage(ctypes.addressof(memory), memory.__len__), 0, (count,), (1,))

    library = ctypes.PyDLL(str(stub.compiled("FAKE_TORCH")))
    ctypes.c_void_p.in_dll(library, "THPVariableClass").value = id(Tensor)
    _kept.append(Tensor)
    module.Tensor, module.empty = Tensor, empty
    module.float32 = module.complex64 = "dtype"
    module._C.TensorBase = base
    module._C.__file__ = library._name
    module.fake_export = lambda tensor, out: fill(module, tensor, DLTensor.from_address(out))
    module.fake_export_owning = lambda tensor, out: _export_owning(module, tensor, out)
    module.fake_import = lambda managed: _import(module, managed)
    module.exports = {}  # the tensors that managed exports keep alive, by the address of the DLManagedTensorVersioned


def fill(module: Any, tensor: Any, out: Any) -> int:
    """Does what dltensor_from_py_object_no_sync has to do."""
    if not isinstance(tensor, module.Tensor):
        raise TypeError("dlx-torch: not a tensor")
    ndim = len(tensor.shape)
    shape, strides = (ctypes.c_int64 * ndim)(*tensor.shape), (ctypes.c_int64 * ndim)(*tensor.strides)
    _kept.append((shape, strides))
    out.data, out.ndim, out.byte_offset = tensor.data_ptr(), ndim, 0
    out.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    out.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    out.device.device_type, out.device.device_id = CPU, 0
    out.dtype.code, out.dtype.bits, out.dtype.lanes = 2, 32, 1
    return 0


def _export_owning(module: Any, tensor: Any, out: int) -> int:
    managed = DLManagedTensorVersioned()
    fill(module, tensor, managed.dl_tensor)
    managed.version.major, managed.version.minor = 1, 3
    module.exports[ctypes.addressof(managed)] = tensor
    deleter = DELETER(lambda address: module.exports.pop(address) and None)
    managed.deleter = ctypes.cast(deleter, ctypes.c_void_p).value
    _kept.append((managed, deleter))
    ctypes.c_void_p.from_address(out).value = ctypes.addressof(managed)
    return 0


def _import(module: Any, address: int) -> Any:
    managed = DLManagedTensorVersioned.from_address(address)
    tensor = managed.dl_tensor
    storage = _Storage(tensor.data, lambda: DELETER(managed.deleter)(address))
    return module.Tensor(storage, 0, tuple(tensor.shape[: tensor.ndim]), tuple(tensor.strides[: tensor.ndim]))


def table_attributes(torch: Any) -> dict[str, Any]:
    """The attributes for tables that the class torch.Tensor itself has."""
    names = ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__")
    return {name: vars(torch.Tensor)[name] for name in names if name in vars(torch.Tensor)}


_tables: list[Any] = []  # kept alive, because a capsule does not own its table


def empty_table() -> Any:
    """A capsule like torch's own, with a table that has no functions."""
    from dlx_torch_ext._capsule import make_capsule

    _tables.append(DLPackExchangeAPI())
    return make_capsule(ctypes.addressof(_tables[-1]))
