"""Outputs, memory that is kept, and references: nothing is leaked and nothing is freed too early."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.kit import kit
from tests.support.kit_tables import HAS_TABLE, counting_allocator, of_type, tensor_type
from tests.support.left_out import left_out_if
from tests.support.tensors import use_count

pytestmark = pytest.mark.isolated


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64]
)
def test_an_output_is_of_the_same_framework(dtype: torch.dtype) -> None:
    made = kit().new(torch.ones(1, dtype=dtype), 2, 3)
    assert (type(made), made.shape, made.dtype) == (torch.Tensor, (2, 3), dtype)
    assert made.is_contiguous()
    made.fill_(1)


def test_numpy_gets_numpys() -> None:
    made = kit().new(np.ones(1, dtype=np.int16), 4, 2)
    assert (type(made), made.shape, made.dtype) == (np.ndarray, (4, 2), np.int16)


@pytest.mark.parametrize("sizes", [(-1, 2), (2**62, 2**62)])
def test_an_output_that_cannot_be_is_an_error(sizes: tuple[int, int]) -> None:
    with pytest.raises((ValueError, MemoryError, RuntimeError)) as raised:
        kit().new(torch.ones(1), *sizes)
    assert str(raised.value).startswith("new: the output: ")
    assert len(str(raised.value).splitlines()) == 1


def test_kept_memory_outlives_the_tensor() -> None:
    tensor = torch.full((4,), 7.0)
    count = use_count(tensor)
    kept = kit().own(tensor)
    again = kit().own(tensor)
    assert use_count(tensor) > count
    del again
    seen = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert kit().read_owned(kept) == 7.0
    del kept
    assert seen() is None or not HAS_TABLE


def test_kept_memory_of_another_framework() -> None:
    array = np.full(4, 5, dtype=np.float32)
    references = sys.getrefcount(array)
    kept = kit().own(array)
    assert sys.getrefcount(array) > references
    assert kit().read_owned(kept) == 5.0
    del kept
    assert sys.getrefcount(array) == references


def failing(call: Any, *given: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        call(*given)


CALLS: list[Any] = [
    lambda x: kit().saxpy(1.0, x, x, x),
    lambda x: kit().saxpy(1.0, x, x),
    lambda x: kit().saxpy(a=1.0, x=x, y=x),
    lambda x: kit().total([x, x]),
    lambda x: kit().make_and_drop(x),
    lambda x: kit().own(x),
    lambda x: kit().without_gil(x, lambda: None),
    lambda x: failing(kit().saxpy, 1.0, x, x.double()),
    lambda x: failing(kit().saxpy, 1.0, x, torch.ones(x.shape[0] + 1)),
    lambda x: failing(kit().saxpy, 1.0, x, None),
    lambda x: failing(kit().total, [x, None]),
    lambda x: failing(lambda: kit().where(x, nothing=x)),
]


@pytest.mark.parametrize("call", CALLS)
def test_no_reference_is_lost_or_kept(call: Any) -> None:
    tensor = torch.ones(3)
    call(tensor)
    references, storage = sys.getrefcount(tensor), use_count(tensor)
    none = sys.getrefcount(None)
    for _ in range(100):
        call(tensor)
    gc.collect()
    assert (sys.getrefcount(tensor), use_count(tensor)) == (references, storage)
    assert sys.getrefcount(None) - none < 50  # fewer is what gc found


def test_the_geometry_is_copied_before_the_gil_is_released() -> None:
    tensor = torch.arange(6.0).view(2, 3)
    assert kit().without_gil(tensor, lambda: tensor.t_()) == ((2, 3), (3, 1))
    assert kit().without_gil(tensor, lambda: tensor.resize_(1, 1, 1, 1, 1, 6)) == ((3, 2), (1, 3))


@left_out_if(not HAS_TABLE, "torch.Tensor has no table here")
def test_what_the_framework_makes_takes_the_output_over() -> None:
    made = kit().saxpy(1.0, torch.ones(3), torch.ones(3))
    assert use_count(made) == use_count(torch.ones(3))


@left_out_if(not HAS_TABLE, "torch.Tensor has no table here")
@pytest.mark.parametrize("lacks", ["", "managed_tensor_to_py_object_no_sync"])
def test_an_output_that_is_not_handed_over_is_freed_once(lacks: str) -> None:
    deleted: list[int] = []
    kind = tensor_type(managed_tensor_allocator=counting_allocator(deleted), **({lacks: None} if lacks else {}))
    tensor = of_type(kind, 3)
    kit().make_and_drop(tensor)
    assert deleted == [1]
    if lacks:
        with pytest.raises(SystemError, match=lacks):
            kit().new(tensor, 1, 2)
    else:
        kit().new(tensor, 1, 2)
    assert deleted == [1, 1]
