"""From a tensor: both functions describe what DLPack can describe, and refuse the rest with the right exception."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch

from tests.support.left_out import cases
from tests.support.structs import CPU
from tests.support.table import Table, assert_refuses, table_under_test
from tests.support.tensors import (
    DESCRIBABLE,
    DTYPES,
    EMPTY,
    NAMELESS,
    NOT_TENSORS,
    REFUSED,
    tensor_of_nameless_dtype,
    use_count,
    without_warnings,
)

pytestmark = pytest.mark.isolated

EXPORTS: dict[str, Callable[[Table, Any], Any]] = {
    "dltensor": lambda table, obj: table.dltensor(obj),
    "owning": lambda table, obj: table.export(obj),
}
by_each_function = pytest.mark.parametrize("how", EXPORTS)


def check_fields(tensor: Any, raw: Any) -> None:
    with torch._C.DisableTorchFunctionSubclass():  # an uninitialised parameter would raise
        sizes, strides = list(tensor.size()), list(tensor.stride())
        address = tensor.data_ptr()
    ndim = len(sizes)
    assert raw.ndim == ndim
    assert list(raw.shape[:ndim]) == sizes
    if ndim:  # without dimensions DLPack allows NULL
        assert raw.strides, "strides is NULL"
        assert list(raw.strides[:ndim]) == strides
    assert (raw.data or 0) == address, "data is not the address of the first element"
    assert raw.byte_offset == 0
    assert (raw.device.device_type, raw.device.device_id) == (CPU, 0)


@by_each_function
@pytest.mark.parametrize("kind", [*DESCRIBABLE, *EMPTY])
def test_describes(kind: str, how: str) -> None:
    tensor = without_warnings({**DESCRIBABLE, **EMPTY}[kind])
    before = use_count(tensor)
    made = EXPORTS[how](table_under_test(), tensor)
    check_fields(tensor, getattr(made, "tensor", made))
    if how == "owning":
        made.delete()
    assert use_count(tensor) == before


@by_each_function
@pytest.mark.parametrize("name", DTYPES)
def test_names_the_dtype(name: str, how: str) -> None:
    tensor = without_warnings(lambda: torch.empty(4, dtype=getattr(torch, name)))
    made = EXPORTS[how](table_under_test(), tensor)
    dtype = getattr(made, "tensor", made).dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == DTYPES[name]


NO_MKLDNN = (not torch.backends.mkldnn.is_available(), "torch is built without mkldnn")


@by_each_function
@pytest.mark.parametrize("kind", cases(REFUSED, {"mkldnn": NO_MKLDNN}))
def test_refuses_what_has_no_plain_memory(kind: str, how: str) -> None:
    tensor = without_warnings(REFUSED[kind])
    before = use_count(tensor)
    assert_refuses(BufferError, lambda: EXPORTS[how](table_under_test(), tensor))
    assert use_count(tensor) == before, "the refusal kept a reference"


@by_each_function
@pytest.mark.parametrize("name", NAMELESS)
def test_refuses_dtypes_without_a_name(name: str, how: str) -> None:
    tensor = tensor_of_nameless_dtype(name)
    assert_refuses(BufferError, lambda: EXPORTS[how](table_under_test(), tensor))


@by_each_function
@pytest.mark.parametrize("kind", NOT_TENSORS)
def test_refuses_what_is_not_a_tensor(kind: str, how: str) -> None:
    obj = NOT_TENSORS[kind]()
    assert_refuses(TypeError, lambda: EXPORTS[how](table_under_test(), obj))


@by_each_function
def test_refuses_a_tensor_inside_vmap(how: str) -> None:
    def inside(x: Any) -> Any:
        assert_refuses(BufferError, lambda: EXPORTS[how](table_under_test(), x))
        return x

    torch.func.vmap(inside)(torch.ones(2, 3))


@by_each_function
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is")  # torch's own jvp calls it
@pytest.mark.parametrize("transform", ["grad", "jvp", "functionalize"])
def test_refuses_the_tensor_of_a_transform(transform: str, how: str) -> None:
    def inside(x: Any) -> Any:
        assert_refuses(BufferError, lambda: EXPORTS[how](table_under_test(), x))
        return x.sum()

    x = torch.ones(3)
    if transform == "grad":
        torch.func.grad(inside)(x)
    elif transform == "jvp":
        torch.func.jvp(inside, (x,), (x,))
    else:
        torch.func.functionalize(inside)(x)


@by_each_function
def test_describes_under_modes(how: str) -> None:
    """A mode changes operations, not a tensor that exists already."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    tensor = torch.arange(6.0)
    for mode in (FakeTensorMode(), torch.inference_mode(), torch.no_grad(), torch.device("meta")):
        with mode:
            made = EXPORTS[how](table_under_test(), tensor)
        raw = getattr(made, "tensor", made)
        assert raw.data == tensor.data_ptr()
        assert raw.shape[0] == 6
