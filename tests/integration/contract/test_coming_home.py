"""A managed tensor of ours that comes back: the consumer may have changed all of it, and the way home may fail."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.left_out import left_out_if
from tests.support.structs import CPU, CUDA, CUDA_HOST, ROCM_HOST, VULKAN
from tests.support.table import assert_refuses, table_under_test
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = pytest.mark.isolated

UINT8 = (1, 8, 1)


def change(made: Any, **fields: Any) -> int:
    """What a consumer makes of a managed tensor of ours."""
    for name, value in fields.items():
        if name == "shape":
            made.tensor.shape[0] = value
        elif name == "dtype":
            made.tensor.dtype.code, made.tensor.dtype.bits, made.tensor.dtype.lanes = value
        elif name == "device":
            made.tensor.device.device_type, made.tensor.device.device_id = value
        elif name == "moved":
            made.tensor.data += value
        elif name == "times":
            made.tensor.data *= value
        else:
            setattr(made.tensor, name, value)
    return int(made.address)


OTHER_MEMORY: dict[str, dict[str, Any]] = {
    "shape": {"shape": 1 << 28},
    "one_more": {"shape": 25},
    "dtype": {"dtype": (2, 64, 1)},
    "byte_offset": {"byte_offset": 4},
    "byte_offset_past_the_end": {"byte_offset": 1 << 40},
    "another_address": {"data": 1 << 20},
    "before_the_start": {"moved": -4},
    "one_element_before_the_start": {"moved": -4, "shape": 1},
    "one_element_behind_the_end": {"moved": 96, "shape": 1},
    "one_byte_behind_the_end": {"moved": 93, "shape": 1},
    "twice_the_address": {"times": 2, "shape": 1},
    "a_device": {"device": (CUDA, 0)},
    "a_device_of_nobody": {"device": (VULKAN, 0)},
}


@pytest.mark.parametrize("name", OTHER_MEMORY)
def test_other_memory_is_refused(name: str) -> None:
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    address = change(made, **OTHER_MEMORY[name])
    text = assert_refuses(ValueError, lambda: table_under_test().to_torch(address))
    assert text.endswith(
        " that do not lie in the 96 bytes of torch's storage that it came from: the library that changed it has to"
        " correct it"
    )
    made.delete()
    assert tensor.sum().item() == 276.0


@left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")
@pytest.mark.parametrize("device", [(CPU, 0), (CUDA, 1), (CUDA_HOST, 0), (VULKAN, 0)], ids=str)
def test_the_memory_of_cuda_stays_on_its_device(device: tuple[int, int]) -> None:
    made = table_under_test().export(torch.empty(4, device="cuda:0"))
    address = change(made, device=device)
    assert "the managed tensor names 16 bytes on kDL" in assert_refuses(
        ValueError, lambda: table_under_test().to_torch(address)
    )
    made.delete()


# What the consumer changes, the place of the first byte in the 96 bytes, the number of elements.
OWN_MEMORY: dict[str, tuple[dict[str, Any], int, int]] = {
    "unchanged": ({}, 0, 24),
    "smaller": ({"shape": 2}, 0, 2),
    "later": ({"shape": 2, "byte_offset": 8}, 8, 2),
    "moved": ({"shape": 2, "moved": 8}, 8, 2),
    "moved_there_and_back": ({"shape": 2, "moved": 12, "byte_offset": 4}, 16, 2),
    "another_dtype": ({"shape": 96, "dtype": UINT8}, 0, 96),
    "another_dtype_later": ({"shape": 95, "dtype": UINT8, "byte_offset": 1}, 1, 95),
    "misaligned": ({"shape": 1, "byte_offset": 2}, 2, 1),
    "misaligned_to_the_end": ({"shape": 23, "byte_offset": 3}, 3, 23),
    "the_last_bytes": ({"shape": 1, "byte_offset": 92}, 92, 1),
    "pinned_by_cuda": ({"device": (CUDA_HOST, 0)}, 0, 24),
    "pinned_by_rocm": ({"device": (ROCM_HOST, 0)}, 0, 24),
}


@pytest.mark.parametrize("name", OWN_MEMORY)
def test_its_own_memory_is_taken_as_described(name: str) -> None:
    fields, place, elements = OWN_MEMORY[name]
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    back = table_under_test().to_torch(change(made, **fields))
    made.release()
    assert (back.numel(), back.data_ptr()) == (elements, tensor.data_ptr() + place)
    assert back.device == tensor.device
    size = back.numel() * back.element_size()
    assert ctypes.string_at(back.data_ptr(), size) == tensor.numpy().tobytes()[place : place + size]
    if place % back.element_size() == 0:  # on torch's own storage, so that torch knows of the alias
        assert back.untyped_storage()._cdata == tensor.untyped_storage()._cdata
        assert back.storage_offset() * back.element_size() == place


@pytest.mark.parametrize("data", [None, 1 << 20], ids=["null", "elsewhere"])
def test_nothing_may_lie_anywhere(data: int | None) -> None:
    made = table_under_test().export(torch.arange(24.0))
    back = table_under_test().to_torch(change(made, shape=0, data=data))
    made.release()
    assert back.shape == (0,)


def test_without_memory_for_the_object_it_stays_the_callers() -> None:
    """CPython has no memory for the object of the new tensor."""
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    outcome, _ = table_under_test().try_to_torch(made.address, memory=False)
    assert isinstance(outcome.error, MemoryError)
    _is_whole(tensor, made)


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """In the block this process gets no more than 64 MiB."""
    page, limits = os.sysconf("SC_PAGE_SIZE"), resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * page
    resource.setrlimit(resource.RLIMIT_AS, (size + (64 << 20), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@left_out_if("DLX_TORCH_TEST_SANITIZED" in os.environ, "a sanitizer's memory does not fit in the limit")
def test_without_memory_for_its_sizes_it_stays_the_callers() -> None:
    """torch throws: it has no memory for the sizes of so many dimensions."""
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    shape, strides, dimensions = made.tensor.shape, made.tensor.strides, 1 << 24
    ones = torch.ones(dimensions, dtype=torch.int64)
    address = ctypes.cast(ones.data_ptr(), ctypes.POINTER(ctypes.c_int64))
    change(made, ndim=dimensions, shape=1)
    made.tensor.shape, made.tensor.strides = address, None
    with little_memory():
        assert_refuses(RuntimeError, lambda: table_under_test().to_torch(made.address))
    made.tensor.ndim, made.tensor.shape, made.tensor.strides = 1, shape, strides
    made.tensor.shape[0] = 24
    _is_whole(tensor, made)


def _is_whole(tensor: Any, made: Any) -> None:
    """Whether the managed tensor can still go home, or be deleted, after it could not."""
    again = table_under_test().export(tensor)
    assert again.tensor.data == made.tensor.data
    again.delete()
    back = table_under_test().to_torch(made.release())
    del tensor
    assert back.sum().item() == 276.0
