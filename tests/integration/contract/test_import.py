"""To a tensor: what a tensor of another library becomes, who owns its memory, and when its deleter runs."""

from __future__ import annotations

import gc
from typing import Any, Callable

import pytest
import torch

from tests.support.foreign_tensors import ForeignTensor
from tests.support.structs import CPU, CUDA_HOST, PADDED, READ_ONLY, ROCM_HOST
from tests.support.table import table_under_test
from tests.support.tensors import DTYPES, without_warnings

pytestmark = pytest.mark.isolated


def imported(**described: Any) -> tuple[Any, ForeignTensor]:
    foreign = ForeignTensor(**described)
    return table_under_test().to_torch(foreign.address), foreign


def test_is_exactly_a_tensor() -> None:
    tensor, foreign = imported()
    assert type(tensor) is torch.Tensor
    assert tensor.dtype is torch.float32
    assert tensor.device == torch.device("cpu")
    assert not tensor.requires_grad
    assert tensor.is_leaf
    assert tensor.grad_fn is None
    assert tensor.data_ptr() == foreign.tensor.data
    assert tensor.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


VIEWS: dict[str, tuple[dict[str, Any], Any, tuple[int, ...], int]] = {
    # description, values, strides, bytes of storage
    "contiguous": ({"shape": (2, 3), "strides": (3, 1)}, [[0, 1, 2], [3, 4, 5]], (3, 1), 24),
    "without_strides": ({"shape": (2, 3)}, [[0, 1, 2], [3, 4, 5]], (3, 1), 24),
    "transposed": ({"shape": (2, 3), "strides": (1, 2)}, [[0, 2, 4], [1, 3, 5]], (1, 2), 24),
    "padded": ({"shape": (2, 2), "strides": (8, 2)}, [[0, 2], [8, 10]], (8, 2), 44),
    "expanded": ({"shape": (2, 3), "strides": (0, 1)}, [[0, 1, 2], [0, 1, 2]], (0, 1), 12),
    "overlapping": ({"shape": (2, 3), "strides": (1, 1)}, [[0, 1, 2], [1, 2, 3]], (1, 1), 16),
    "byte_offset": ({"shape": (3,), "byte_offset": 8}, [2, 3, 4], (1,), 12),
    "byte_offset_and_strides": ({"shape": (2,), "strides": (4,), "byte_offset": 4}, [1, 5], (4,), 20),
    "zero_dim": ({"shape": ()}, 0, (), 4),
    "zero_dim_without_a_shape": ({"shape": None, "ndim": 0, "byte_offset": 4}, 1, (), 4),
    "size_one_with_any_stride": ({"shape": (1, 3), "strides": (7, 1)}, [[0, 1, 2]], (7, 1), 12),
    "seven_dims": ({"shape": (1, 1, 1, 1, 1, 1, 2)}, [[[[[[[0, 1]]]]]]], (2, 2, 2, 2, 2, 2, 1), 8),
}


@pytest.mark.parametrize("view", VIEWS)
def test_sees_the_elements_described(view: str) -> None:
    described, values, strides, size = VIEWS[view]
    tensor, _ = imported(**described)
    assert tensor.tolist() == values
    assert tensor.stride() == strides
    assert tensor.untyped_storage().nbytes() == size
    assert tensor.storage_offset() == 0


def test_shares_the_memory() -> None:
    tensor, foreign = imported()
    tensor[1, 0] = 30.0
    assert foreign.memory[3] == 30.0
    foreign.memory[5] = 50.0
    assert tensor[1, 2].item() == 50.0


@pytest.mark.parametrize("name", DTYPES)
def test_takes_every_dtype_with_a_name(name: str) -> None:
    tensor, _ = imported(shape=(4,), dtype=DTYPES[name])
    assert tensor.dtype is getattr(torch, name)
    assert tensor.untyped_storage().nbytes() == 4 * tensor.element_size()


@pytest.mark.parametrize("name", DTYPES)
def test_round_trip_keeps_memory_and_dtype(name: str) -> None:
    source = without_warnings(
        lambda: torch.zeros(16 * 6, dtype=torch.uint8).view(getattr(torch, name)).reshape(2, -1).t()
    )
    back = table_under_test().to_torch(table_under_test().export(source).release())
    assert back.dtype is source.dtype
    assert (back.data_ptr(), back.shape, back.stride()) == (source.data_ptr(), source.shape, source.stride())


def test_empty_tensors_may_have_any_strides() -> None:
    tensor, _ = imported(shape=(0, 0, 0, 3), strides=(2**62, 2**62, 2**62, 1))
    assert (tensor.shape, tensor.stride()) == ((0, 0, 0, 3), (2**62, 2**62, 2**62, 1))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3), (1, 1, 1, 1, 1, 0)], ids=str)
@pytest.mark.parametrize("data", [None, -1], ids=["data_null", "data"])
def test_empty_tensors_may_have_no_memory(shape: tuple[int, ...], data: int | None) -> None:
    tensor, foreign = imported(shape=shape, data=data)
    assert tuple(tensor.shape) == shape
    assert tensor.stride() == torch.empty(shape).stride()
    assert tensor.untyped_storage().nbytes() == 0
    assert foreign.deleted == 0
    del tensor
    assert foreign.deleted == 1


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "view": lambda t: t[1:],
    "detached": lambda t: t.detach(),
    "alias": lambda t: t.view(torch.int32),
    "storage": lambda t: t.untyped_storage(),
    "autograd": lambda t: torch.ones(2, 3, requires_grad=True) * t,
    "exported_again": lambda t: table_under_test().to_torch(table_under_test().export(t).release()),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_the_deleter_runs_once_with_the_last_holder(holder: str) -> None:
    tensor, foreign = imported()
    held = HOLDERS[holder](tensor)
    assert foreign.deleted == 0
    del tensor
    gc.collect()
    assert foreign.deleted == 0
    del held
    gc.collect()
    assert foreign.deleted == 1


def test_the_deleter_may_be_null() -> None:
    tensor, foreign = imported(deleter=False)
    assert tensor.sum().item() == 15.0
    del tensor
    assert foreign.deleted == 0


@pytest.mark.parametrize("device", [CPU, CUDA_HOST, ROCM_HOST])
def test_host_memory_is_a_cpu_tensor(device: int) -> None:
    tensor, _ = imported(device=(device, 0))
    assert tensor.device == torch.device("cpu")
    assert tensor.sum().item() == 15.0


def test_whole_bytes_cannot_be_padded() -> None:
    """The flag says something of smaller elements only."""
    for dtype, size in ((DTYPES["uint8"], 1), (DTYPES["float32"], 4)):
        tensor, _ = imported(shape=(2,), dtype=dtype, flags=PADDED)
        assert tensor.untyped_storage().nbytes() == 2 * size


@pytest.mark.parametrize("described", [{"flags": READ_ONLY}, {"version": (1, 0)}, {"version": (1, 99)}], ids=str)
def test_accepts_the_read_only_flag_and_other_minor_versions(described: dict[str, Any]) -> None:
    """torch cannot mark a tensor as read-only, and a newer minor version only adds names."""
    tensor, _ = imported(**described)
    assert tensor.sum().item() == 15.0


def test_can_be_computed_with() -> None:
    tensor, _ = imported()
    tensor.requires_grad_()
    (tensor * tensor).sum().backward()
    assert tensor.grad.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


@pytest.mark.parametrize("mode", ["inference_mode", "no_grad", "fake", "meta_device", "dispatch", "function"])
def test_modes_do_not_reach_it(mode: str) -> None:
    from tests.support.modes import MODES

    with MODES[mode]() as seen:
        tensor, foreign = imported()
    assert type(tensor) is torch.Tensor
    assert tensor.device.type == "cpu"
    assert tensor.data_ptr() == foreign.tensor.data
    assert not seen, f"the mode saw {seen}"
