"""The DLTensor: it points into the tensor and copies nothing; copy-on-write storage is made writable before."""

from __future__ import annotations

import ctypes
import sys

import pytest
import torch

from tests.support.table import table_under_test

pytestmark = pytest.mark.isolated


def test_borrows_shape_and_strides() -> None:
    tensor = torch.arange(24.0).reshape(2, 3, 4)
    first, second = table_under_test().dltensor(tensor), table_under_test().dltensor(tensor)
    for field in ("shape", "strides"):
        addresses = [ctypes.cast(getattr(raw, field), ctypes.c_void_p).value for raw in (first, second)]
        assert addresses[0] == addresses[1], f"{field} was allocated for the call"


def test_owns_nothing() -> None:
    tensor = torch.ones(3)
    before = tensor._use_count(), sys.getrefcount(tensor)
    table_under_test().dltensor(tensor)
    assert (tensor._use_count(), sys.getrefcount(tensor)) == before


def test_reaches_the_memory() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)[1:, 1:]
    raw = table_under_test().dltensor(tensor)
    assert ctypes.c_float.from_address(raw.data).value == 4.0
    ctypes.c_float.from_address(raw.data).value = 40.0
    assert tensor.tolist() == [[40.0, 5.0]]


@pytest.mark.parametrize("owning", [False, True], ids=["dltensor", "owning"])
@pytest.mark.parametrize("exported", ["the_clone", "the_original"])
def test_materialises_copy_on_write_storage(exported: str, owning: bool) -> None:
    original = torch.arange(4.0)
    clone = torch._lazy_clone(original)
    tensor, other = (clone, original) if exported == "the_clone" else (original, clone)
    assert torch._C._is_cow_tensor(tensor)
    raw = table_under_test().export(tensor).tensor if owning else table_under_test().dltensor(tensor)
    assert not torch._C._is_cow_tensor(tensor)
    ctypes.c_float.from_address(raw.data).value = 99.0
    assert tensor.tolist() == [99.0, 1.0, 2.0, 3.0]
    assert other.tolist() == [0.0, 1.0, 2.0, 3.0], "a write through DLPack reached the other tensor"


def test_the_table_says_its_version() -> None:
    raw = table_under_test().raw
    assert raw.version.major == 1
    assert not raw.prev_api
    for name in ("managed_tensor_allocator", "dltensor_from_py_object_no_sync", "current_work_stream"):
        assert getattr(raw, name), f"{name} is NULL"
