"""Allocation on CUDA: from torch's caching allocator, on the device asked for, and given back to it."""

from __future__ import annotations

import pytest
import torch

from tests.support.devices import current_device_stays, devices, indices_of_no_device
from tests.support.foreign_tensors import prototype
from tests.support.left_out import left_out_if
from tests.support.modes import MODES
from tests.support.structs import CUDA, CUDA_MANAGED
from tests.support.table import assert_refuses, table_under_test
from tests.support.tensors import DTYPES
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]

MEGABYTE = 1 << 20


def allocated(device: int) -> int:
    """Bytes in use. Until torch.cuda is initialised in Python, torch returns 0 whatever is allocated."""
    torch.cuda.init()
    return int(torch.cuda.memory_allocated(device))


def test_is_counted_where_it_was_asked_for() -> None:
    for device in devices():
        before = {one: allocated(one) for one in devices()}
        with current_device_stays():
            made = table_under_test().allocate(prototype((MEGABYTE,), device=(CUDA, device)))
        assert (made.tensor.device.device_type, made.tensor.device.device_id) == (CUDA, device)
        assert made.tensor.data
        assert made.tensor.data % 256 == 0
        grown = {one: allocated(one) - before[one] for one in devices()}
        assert grown == {one: 4 * MEGABYTE if one == device else 0 for one in devices()}
        with current_device_stays():
            made.delete()
        assert {one: allocated(one) for one in devices()} == before


def test_becomes_a_tensor_of_the_device() -> None:
    for device in devices():
        made = table_under_test().allocate(prototype((2, 3), (1, 2), device=(CUDA, device)))
        address = made.tensor.data
        tensor = table_under_test().to_torch(made.release())
        assert type(tensor) is torch.Tensor
        assert tensor.device == torch.device("cuda", device)
        assert (tensor.data_ptr(), tuple(tensor.shape), tensor.stride()) == (address, (2, 3), (1, 2))
        assert allocated(device) > 0
        del tensor
        assert allocated(device) == 0


@pytest.mark.parametrize("name", DTYPES)
def test_gives_every_dtype_that_can_be_exported(name: str) -> None:
    made = table_under_test().allocate(prototype((2, 4), dtype=DTYPES[name], device=(CUDA, 0)))
    tensor = table_under_test().to_torch(made.release())
    assert tensor.dtype is getattr(torch, name)
    assert tensor.is_cuda


def test_needs_no_memory_for_nothing() -> None:
    made = table_under_test().allocate(prototype((0, 3), device=(CUDA, 0)))
    assert made.shape == (0, 3)
    assert allocated(0) == 0
    made.delete()


def test_needs_no_gil_and_no_thread_state() -> None:
    rc, made = table_under_test().allocate_on_new_thread(prototype((16,), device=(CUDA, devices()[-1])))
    assert rc == 0
    assert made is not None
    made.delete()
    assert allocated(devices()[-1]) == 0


@pytest.mark.parametrize("mode", MODES)
def test_modes_do_not_reach_it(mode: str) -> None:
    """Not even the first allocation of a process, which also creates the context of the device."""
    table, asked = table_under_test(), prototype((2, 3), device=(CUDA, 0))
    with MODES[mode]() as seen:
        made = table.allocate(asked)
    assert not seen, f"the mode saw {seen}"
    assert allocated(0) > 0
    assert table.to_torch(made.release()).device == torch.device("cuda", 0)


def test_refuses_no_device() -> None:
    for index in indices_of_no_device():
        asked = prototype((2, 3), device=(CUDA, index))
        with current_device_stays():
            assert_refuses(BufferError, table_under_test().allocate, asked)


def test_refuses_managed_memory() -> None:
    assert_refuses(BufferError, table_under_test().allocate, prototype((2, 3), device=(CUDA_MANAGED, 0)))


def test_says_when_there_is_no_memory() -> None:
    for device in devices():
        asked = prototype((2**45,), device=(CUDA, device))
        with current_device_stays():
            assert_refuses(MemoryError, table_under_test().allocate, asked)
        assert allocated(device) == 0
        table_under_test().allocate(prototype((2, 3), device=(CUDA, device))).delete()


def test_many_leave_nothing_behind() -> None:
    for device in devices():
        for _ in range(300):
            table_under_test().allocate(prototype((MEGABYTE,), device=(CUDA, device))).delete()
        assert allocated(device) == 0
        assert torch.cuda.memory_reserved(device) < 100 * MEGABYTE
