"""The target, compiled and told what it has to know of this torch and of the table under test."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.fuzz.sources import COUNTED, HEADERS, SOURCES
from tests.support.compiled import dlpack_include, library
from tests.support.structs import CUDA, CUDA_MANAGED, DLDataType


class _Object(ctypes.Structure):
    _fields_ = [
        ("object", ctypes.c_void_p),
        ("memory", ctypes.c_size_t),
        ("bytes", ctypes.c_uint64),
        ("use_count", ctypes.c_void_p),
    ]


class _Host(ctypes.Structure):
    _fields_ = [
        ("table", ctypes.c_void_p),
        ("dtypes", ctypes.POINTER(DLDataType)),
        ("dtype_count", ctypes.c_int32),
        ("objects", ctypes.POINTER(_Object)),
        ("object_count", ctypes.c_int32),
        ("exportable_count", ctypes.c_int32),
        ("accelerator", ctypes.c_int32),
        ("managed", ctypes.c_int32),
        ("device_count", ctypes.c_int32),
    ]


def compile_target() -> Path:
    first, *others = SOURCES
    return library(first, "-std=c++17", "-pthread", "-ldl", f"-I{dlpack_include()}", beside=[*others, *HEADERS])


def bind(path: Path) -> ctypes.PyDLL:
    """The target. Its functions keep the GIL; its symbols are there for the libraries that are loaded after it."""
    target = ctypes.PyDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    target.fuzz_start.argtypes = [ctypes.c_void_p]
    target.fuzz_random.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
    target.fuzz_random.restype = None
    target.LLVMFuzzerTestOneInput.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    target.fuzz_counts.restype = ctypes.POINTER(ctypes.c_uint64)
    return target


def start(target: ctypes.PyDLL) -> None:
    """Tells the target of the table under test, and of objects to export. Initialises the accelerator."""
    host, kept = _host()
    _kept.extend([host, *kept])
    target.fuzz_start(ctypes.addressof(host))


def counts(target: ctypes.PyDLL) -> dict[str, tuple[int, int]]:
    """The number of calls by what was asked for, and how many of them were accepted."""
    numbers = target.fuzz_counts()[: 2 * len(COUNTED)]
    return dict(zip(COUNTED, zip(numbers[::2], numbers[1::2])))


_kept: list[Any] = []


def _host() -> tuple[_Host, list[Any]]:
    import torch

    from tests.support.table import table_under_test
    from tests.support.tensors import DTYPES

    exportable, refused = _objects()
    objects = [_described(one) for one in exportable] + [_Object(id(one)) for one in refused] + [_Object(None)]
    dtypes = (DLDataType * len(DTYPES))(*(DLDataType(*dtype) for dtype in DTYPES.values()))
    array = (_Object * len(objects))(*objects)
    has_cuda = torch.version.cuda is not None
    host = _Host(
        table=table_under_test().address,
        dtypes=dtypes,
        dtype_count=len(dtypes),
        objects=array,
        object_count=len(array),
        exportable_count=len(exportable),
        accelerator=CUDA if has_cuda else 0,
        managed=CUDA_MANAGED if has_cuda else 0,
        device_count=torch.cuda.device_count() if has_cuda else 0,
    )
    return host, [dtypes, array, exportable, refused]


def _objects() -> tuple[list[Any], list[Any]]:
    """Tensors that can be exported, and objects that cannot."""
    import torch

    from tests.support.tensors import DESCRIBABLE, EMPTY, NOT_TENSORS, REFUSED, without_warnings

    exportable = [without_warnings(make) for make in (*DESCRIBABLE.values(), *EMPTY.values())]
    if torch.version.cuda is not None:
        exportable += [torch.ones(4, 5, device=f"cuda:{i}")[1:] for i in range(torch.cuda.device_count())]
    return exportable, [without_warnings(make) for make in (*REFUSED.values(), *NOT_TENSORS.values())]


def _described(tensor: Any) -> _Object:
    from tests.support.table import table_under_test

    table_under_test().dltensor(tensor)  # from now on a copy-on-write tensor has its own memory
    import torch

    with torch._C.DisableTorchFunctionSubclass():  # an uninitialised parameter would raise
        storage = tensor.untyped_storage()
    _kept.append(storage)
    reference_count = storage._cdata + 8  # behind the vtable, in every release
    return _Object(id(tensor), storage.data_ptr(), storage.nbytes(), reference_count)


def replay(target: ctypes.PyDLL, inputs: Iterable[bytes]) -> None:
    for one in inputs:
        target.LLVMFuzzerTestOneInput(one, len(one))


@functools.cache
def started_target() -> ctypes.PyDLL:
    """The target for inputs of a generator, compiled with this machine's compiler."""
    target = bind(compile_target())
    start(target)
    return target
