"""Allocate: the result is as described and from torch's allocator, in every mode; SetError gets the kind of error."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
import torch

from tests.support.foreign_tensors import prototype
from tests.support.left_out import cases
from tests.support.modes import MODES
from tests.support.structs import CUDA, CUDA_HOST, EXT_DEV, METAL, ROCM, ROCM_HOST, VULKAN
from tests.support.table import ManagedTensor, assert_refuses, table_under_test
from tests.support.tensors import DTYPES
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = pytest.mark.isolated


def as_torch_tensor(made: ManagedTensor) -> Any:
    """The allocated tensor as a torch.Tensor, which also checks that it is complete."""
    return table_under_test().to_torch(made.release())


SHAPES = [(2, 3), (), (1,), (0,), (0, 3), (2, 0, 3), (4, 4), (1, 2, 3, 4, 5), (1, 1, 2, 1, 1, 1, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gives_the_shape_contiguous(shape: tuple[int, ...]) -> None:
    made = table_under_test().allocate(prototype(shape))
    like = torch.empty(shape)
    assert made.tensor.ndim == len(shape)
    if shape:  # without dimensions the pointers may be NULL
        assert (made.shape, made.strides) == (shape, like.stride())
    assert (made.raw.version.major, made.raw.version.minor, made.raw.flags) == (1, 3, 0)
    assert (made.tensor.device.device_type, made.tensor.device.device_id) == (1, 0)
    assert made.tensor.byte_offset == 0
    if like.numel():
        assert made.tensor.data
        assert made.tensor.data % 64 == 0, "torch aligns its memory to 64 bytes"
        ctypes.memset(made.tensor.data, 0, like.numel() * 4)
    tensor = as_torch_tensor(made)
    assert tuple(tensor.shape) == shape
    assert tensor.stride() == like.stride()
    assert tensor.flatten().tolist() == [0.0] * like.numel()


def test_needs_no_shape_without_dimensions() -> None:
    made = table_under_test().allocate(prototype(None, ndim=0))
    assert made.tensor.ndim == 0
    assert made.tensor.data


@pytest.mark.parametrize("name", DTYPES)
def test_gives_every_dtype_that_can_be_exported(name: str) -> None:
    made = table_under_test().allocate(prototype((2, 4), dtype=DTYPES[name]))
    dtype = made.tensor.dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == DTYPES[name]
    assert as_torch_tensor(made).dtype is getattr(torch, name)


STRIDES = {
    "contiguous": ((2, 3), (3, 1), 24),
    "transposed": ((2, 3), (1, 2), 24),
    "padded": ((2, 3), (10, 2), 60),
    "expanded": ((4, 3), (0, 1), 12),
    "channels_last": ((2, 3, 4, 5), (60, 1, 15, 3), 480),
    "six_dims": ((1, 2, 1, 1, 1, 3), (6, 1, 6, 6, 6, 2), 24),
    "empty": ((0, 3), (3, 1), 0),
}


@pytest.mark.parametrize("name", STRIDES)
def test_honours_strides(name: str) -> None:
    shape, strides, size = STRIDES[name]
    made = table_under_test().allocate(prototype(shape, strides))
    assert (made.shape, made.strides) == (shape, strides)
    assert as_torch_tensor(made).untyped_storage().nbytes() == size


@pytest.mark.parametrize("mode", MODES)
def test_modes_do_not_reach_it(mode: str) -> None:
    table, asked = table_under_test(), prototype((2, 3))
    with MODES[mode]() as seen:
        made = table.allocate(asked)
    assert not seen, f"the mode saw {seen}"
    ctypes.memset(made.tensor.data, 0, 24)
    tensor = as_torch_tensor(made)
    assert type(tensor) is torch.Tensor
    assert tensor.device.type == "cpu"
    assert tensor.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("transform", ["vmap", "grad", "functionalize"])
def test_transforms_do_not_reach_it(transform: str) -> None:
    made: list[ManagedTensor] = []

    def inside(x: Any) -> Any:
        made.append(table_under_test().allocate(prototype((2, 3))))
        return x.sum()

    getattr(torch.func, transform)(inside)(torch.ones(3))
    tensor = as_torch_tensor(made[0])
    assert type(tensor) is torch.Tensor
    assert tuple(tensor.shape) == (2, 3)
    assert not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def test_each_allocation_has_memory_of_its_own() -> None:
    made = [table_under_test().allocate(prototype((16,))) for _ in range(8)]
    assert len({one.tensor.data for one in made}) == 8
    for one in made:
        one.delete()


def test_reads_nothing_else_of_the_prototype() -> None:
    asked = prototype((2, 3))
    asked.data, asked.byte_offset = 0xDEAD, 2**64 - 1
    shape = asked.shape[:2]
    made = table_under_test().allocate(asked)
    asked.shape[0] = 77
    assert list(made.tensor.shape[:2]) == shape, "the result points into the prototype"
    assert made.tensor.data != 0xDEAD
    assert made.tensor.byte_offset == 0


def test_needs_no_gil_and_no_thread_state() -> None:
    rc, made = table_under_test().allocate_on_new_thread(prototype((2, 3)))
    assert rc == 0
    assert made is not None
    made.delete()
    rc, made = table_under_test().allocate_on_new_thread(prototype((2, -3)))
    assert rc == -1
    assert made is None


REFUSALS: dict[str, tuple[type[BaseException], dict[str, Any]]] = {
    "ndim_negative": (ValueError, {"ndim": -1}),
    "shape_null": (ValueError, {"shape": None, "ndim": 2}),
    "size_negative": (ValueError, {"shape": (2, -3)}),
    "size_negative_beside_zero": (ValueError, {"shape": (0, -3)}),
    "stride_negative": (ValueError, {"shape": (2, 3), "strides": (-3, 1)}),
    "elements_overflow": (ValueError, {"shape": (2**62, 4)}),
    "elements_wrap_to_zero": (ValueError, {"shape": (2**32, 2**32)}),
    "bytes_overflow": (ValueError, {"shape": (2**61,)}),
    "extent_overflows": (ValueError, {"shape": (2, 2), "strides": (2**62, 2**62)}),
    "extent_in_bytes_overflows": (ValueError, {"shape": (2,), "strides": (2**61,)}),
    "huge": (MemoryError, {"shape": (2**58,)}),
    "huge_by_strides": (MemoryError, {"shape": (2, 2), "strides": (2**57, 1)}),
    "opaque_handle": (BufferError, {"dtype": (3, 64, 1)}),
    "unknown_code": (BufferError, {"dtype": (99, 32, 1)}),
    "lanes_0": (BufferError, {"dtype": (2, 32, 0)}),
    "lanes_4": (BufferError, {"dtype": (2, 32, 4)}),
    "int4": (BufferError, {"dtype": (0, 4, 1)}),
    "float128": (BufferError, {"dtype": (2, 128, 1)}),
    "float4_unpaired": (BufferError, {"dtype": (17, 4, 1)}),
    "cuda_host": (BufferError, {"device": (CUDA_HOST, 0)}),
    "rocm_host": (BufferError, {"device": (ROCM_HOST, 0)}),
    "vulkan": (BufferError, {"device": (VULKAN, 0)}),
    "metal": (BufferError, {"device": (METAL, 0)}),
    "ext_dev": (BufferError, {"device": (EXT_DEV, 0)}),
    "rocm": (BufferError, {"device": (ROCM, 0)}),
    "device_99": (BufferError, {"device": (99, 0)}),
    "device_0": (BufferError, {"device": (0, 0)}),
    "cuda": (BufferError, {"device": (CUDA, 0)}),
}
every_refusal = pytest.mark.parametrize("name", cases(REFUSALS, {"cuda": (BUILT_FOR_CUDA, "torch is built for CUDA")}))


@every_refusal
def test_tells_set_error_the_kind(name: str) -> None:
    kind, asked = REFUSALS[name]
    described = prototype(**{"shape": (2, 3), **asked})
    assert_refuses(kind, lambda: table_under_test().allocate(described))


@every_refusal
def test_set_error_may_be_null(name: str) -> None:
    _, asked = REFUSALS[name]
    rc, made = table_under_test().allocate_on_new_thread(prototype(**{"shape": (2, 3), **asked}))
    assert rc == -1
    assert made is None


def test_passes_the_error_context_through() -> None:
    outcome, _ = table_under_test().try_allocate(
        prototype((2, -3)), error_ctx=0x1234
    )  # try_allocate checks what SetError gets
    assert outcome.rc == -1
