"""How the table of a type is found, remembered and forgotten, and what a wrong one is answered with."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import pytest
import torch
from dlx_torch_ext._capsule import make_capsule

from tests.support.kit import kit
from tests.support.kit_tables import HAS_TABLE, VIEW, address, copied_table, of_type, tensor_type
from tests.support.left_out import left_out_if
from tests.support.tensors import use_count

pytestmark = [pytest.mark.isolated, left_out_if(not HAS_TABLE, "torch.Tensor has no table here")]

USES_UNTIL_IT_LOOKS_AGAIN = 251


def counting(counts: list[int], result: int = 0) -> int:
    """The address of a function that describes nothing and says how often it was asked."""

    def view(_: Any, out: Any) -> int:
        counts.append(1)
        out[0].ndim, out[0].device.device_type = 0, 1
        return result

    return address(VIEW(view))


def test_the_table_is_asked_once_for_each_type_and_call() -> None:
    counts: list[int] = []
    kind = tensor_type(dltensor_from_py_object_no_sync=counting(counts))
    for _ in range(5):
        kit().describe(of_type(kind, 2))
    assert len(counts) == 5


def test_a_subclass_has_the_table_of_its_base() -> None:
    counts: list[int] = []
    base = tensor_type(dltensor_from_py_object_no_sync=counting(counts))
    kit().describe(of_type(type("Derived", (base,), {}), 2))
    assert counts == [1]


def test_an_attached_table_is_seen_at_once_and_a_detached_one_soon() -> None:
    counts: list[int] = []
    kind = tensor_type(attribute=None, dltensor_from_py_object_no_sync=counting(counts))
    table = kind.__dlpack_c_exchange_api__
    kind.__dlpack_c_exchange_api__ = None
    tensor = of_type(kind, 2)
    assert kit().describe(tensor)[0] == (2,)  # through __dlpack__
    assert counts == []
    kind.__dlpack_c_exchange_api__ = table
    kit().describe(tensor)
    assert counts == [1]
    kind.__dlpack_c_exchange_api__ = None
    shapes = [kit().describe(tensor)[0] for _ in range(USES_UNTIL_IT_LOOKS_AGAIN)]
    assert shapes[-1] == (2,)
    assert shapes == sorted(shapes)  # the table's (), then __dlpack__'s


def test_forgetting_looks_at_every_type_again() -> None:
    counts: list[int] = []
    kind = tensor_type(dltensor_from_py_object_no_sync=counting(counts))
    tensor = of_type(kind, 2)
    kit().describe(tensor)
    kind.__dlpack_c_exchange_api__ = make_capsule(ctypes.addressof(copied_table()))
    kit().forget_tables()
    assert kit().describe(tensor)[0] == (2,)
    assert counts == [1]


def test_a_remembered_type_is_held_and_a_forgotten_one_let_go() -> None:
    kit().forget_tables()
    kind = tensor_type()
    kit().describe(of_type(kind, 2))
    seen = weakref.ref(kind)
    del kind
    gc.collect()
    assert seen() is not None, "its address could become another type's"
    kit().forget_tables()
    gc.collect()
    assert seen() is None


def test_more_types_than_are_remembered_do_not_pile_up() -> None:
    kit().forget_tables()
    seen = []
    for _ in range(40):
        kind = tensor_type()
        assert kit().describe(of_type(kind, 3))[0] == (3,)
        seen.append(weakref.ref(kind))
        del kind
    gc.collect()
    assert sum(ref() is not None for ref in seen) <= 8
    kit().forget_tables()


def test_a_type_without_a_table_is_not_held() -> None:
    kind = tensor_type(attribute=make_capsule(ctypes.addressof(copied_table())))
    kind.__dlpack_c_exchange_api__ = None
    kit().describe(of_type(kind, 2))
    seen = weakref.ref(kind)
    del kind
    gc.collect()
    assert seen() is None


def test_the_older_attribute_is_read_where_the_newer_one_is_missing() -> None:
    counts: list[int] = []
    table = copied_table(dltensor_from_py_object_no_sync=counting(counts))
    kind = tensor_type(attribute=make_capsule(ctypes.addressof(table)))
    older = type("Older", (), {"__c_dlpack_exchange_api__": ctypes.addressof(table)})
    kit().describe(older())
    assert counts == [1]
    kind.__dlpack_c_exchange_api__, kind.__c_dlpack_exchange_api__ = None, ctypes.addressof(table)
    assert kit().describe(of_type(kind, 2))[0] == (2,), "None says that there is no table"
    assert counts == [1]


def test_a_newer_table_leads_to_one_that_we_know() -> None:
    counts: list[int] = []
    ours = copied_table(dltensor_from_py_object_no_sync=counting(counts))
    kind = tensor_type(major=2, prev_api=ctypes.addressof(copied_table(major=3, prev_api=ctypes.addressof(ours))))
    kit().describe(of_type(kind, 2))
    assert counts == [1]


def test_a_newer_table_without_a_way_back_is_none() -> None:
    assert kit().describe(of_type(tensor_type(major=2, prev_api=None), 2))[0] == (2,)
    kind = type("NoTensor", (), {"__dlpack_c_exchange_api__": tensor_type(major=2).__dlpack_c_exchange_api__})
    with pytest.raises(TypeError, match="'NoTensor' has neither a table of DLPack 1 nor __dlpack__"):
        kit().describe(kind())


@pytest.mark.parametrize("attribute", ["text", 1.5, object(), sys.modules["datetime"].datetime_CAPI])
def test_an_attribute_that_is_no_table_is_named(attribute: object) -> None:
    with pytest.raises(TypeError) as raised:
        kit().saxpy(1.0, torch.ones(2), of_type(tensor_type(attribute=attribute), 2))
    assert str(raised.value).startswith("saxpy: argument 3 'y': __dlpack_c_exchange_api__ of its type is ")
    assert str(raised.value).endswith("; a capsule named 'dlpack_exchange_api' is needed")


def test_without_a_borrowing_function_the_owning_one_is_used() -> None:
    kind = tensor_type(dltensor_from_py_object_no_sync=None)
    tensor = of_type(kind, 3)
    references = (sys.getrefcount(tensor), use_count(tensor))
    assert kit().saxpy(1.0, torch.ones(3), tensor).tolist() == [2.0, 2.0, 2.0]
    assert (sys.getrefcount(tensor), use_count(tensor)) == references


def test_a_table_that_describes_nothing_is_none() -> None:
    kind = tensor_type(dltensor_from_py_object_no_sync=None, managed_tensor_from_py_object_no_sync=None)
    assert kit().describe(of_type(kind, 2))[0] == (2,)


def test_a_failure_without_an_exception_is_an_error_all_the_same() -> None:
    kind = tensor_type(dltensor_from_py_object_no_sync=counting([], result=-1))
    with pytest.raises(BufferError) as raised:
        kit().describe(of_type(kind, 2))
    text = "argument 1: SystemError: dltensor_from_py_object_no_sync failed and set no exception"
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("managed_tensor_from_py_object_no_sync", "own"),
        ("managed_tensor_to_py_object_no_sync", "new"),
    ],
)
def test_a_missing_function_is_an_error_where_it_is_needed(missing: str, call: str) -> None:
    tensor = of_type(tensor_type(**{missing: None}), 2)
    kit().describe(tensor)
    with pytest.raises((BufferError, SystemError)) as raised:
        getattr(kit(), call)(tensor, *([1, 2] if call == "new" else []))
    assert missing in str(raised.value)
