"""From a tensor: what can be described is, with both functions; everything else is refused by its right exception."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch

from tests.support.left_out import cases
from tests.support.structs import CPU
from tests.support.table import Table, load, refuses
from tests.support.tensors import (
    DESCRIBABLE,
    DTYPES,
    EMPTY,
    NAMELESS,
    NOT_TENSORS,
    REFUSED,
    nameless,
    quiet,
    use_count,
)

pytestmark = pytest.mark.isolated

EXPORTS: dict[str, Callable[[Table, Any], Any]] = {
    "dltensor": lambda table, obj: table.dltensor(obj),
    "owning": lambda table, obj: table.export(obj),
}
both = pytest.mark.parametrize("how", EXPORTS)


def check_fields(tensor: Any, raw: Any) -> None:
    with torch._C.DisableTorchFunctionSubclass():  # an uninitialised parameter would not say its sizes
        sizes, strides = list(tensor.size()), list(tensor.stride())
        address = tensor.data_ptr()
    ndim = len(sizes)
    assert raw.ndim == ndim
    assert list(raw.shape[:ndim]) == sizes
    if ndim:  # without dimensions DLPack allows NULL: there is nothing to point at
        assert raw.strides, "strides is NULL"
        assert list(raw.strides[:ndim]) == strides
    assert (raw.data or 0) == address, "data is not the address of the first element"
    assert raw.byte_offset == 0
    assert (raw.device.device_type, raw.device.device_id) == (CPU, 0)


@both
@pytest.mark.parametrize("kind", [*DESCRIBABLE, *EMPTY])
def test_describes(kind: str, how: str) -> None:
    tensor = quiet({**DESCRIBABLE, **EMPTY}[kind])
    before = use_count(tensor)
    made = EXPORTS[how](load(), tensor)
    check_fields(tensor, getattr(made, "tensor", made))
    if how == "owning":
        made.delete()
    assert use_count(tensor) == before


@both
@pytest.mark.parametrize("name", DTYPES)
def test_names_the_dtype(name: str, how: str) -> None:
    tensor = quiet(lambda: torch.empty(4, dtype=getattr(torch, name)))
    made = EXPORTS[how](load(), tensor)
    dtype = getattr(made, "tensor", made).dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == DTYPES[name]


NO_MKLDNN = (not torch.backends.mkldnn.is_available(), "torch is built without mkldnn")


@both
@pytest.mark.parametrize("kind", cases(REFUSED, {"mkldnn": NO_MKLDNN}))
def test_refuses_what_has_no_plain_memory(kind: str, how: str) -> None:
    tensor = quiet(REFUSED[kind])
    before = use_count(tensor)
    refuses(BufferError, lambda: EXPORTS[how](load(), tensor))
    assert use_count(tensor) == before, "the refusal kept a reference"


@both
@pytest.mark.parametrize("name", NAMELESS)
def test_refuses_dtypes_without_a_name(name: str, how: str) -> None:
    tensor = nameless(name)
    refuses(BufferError, lambda: EXPORTS[how](load(), tensor))


@both
@pytest.mark.parametrize("kind", NOT_TENSORS)
def test_refuses_what_is_not_a_tensor(kind: str, how: str) -> None:
    obj = NOT_TENSORS[kind]()
    refuses(TypeError, lambda: EXPORTS[how](load(), obj))


@both
def test_refuses_a_tensor_inside_vmap(how: str) -> None:
    def look(x: Any) -> Any:
        refuses(BufferError, lambda: EXPORTS[how](load(), x))
        return x

    torch.func.vmap(look)(torch.ones(2, 3))


@both
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is")  # of torch, whose own jvp calls it
@pytest.mark.parametrize("transform", ["grad", "jvp", "functionalize"])
def test_refuses_the_tensor_of_a_transform(transform: str, how: str) -> None:
    def look(x: Any) -> Any:
        refuses(BufferError, lambda: EXPORTS[how](load(), x))
        return x.sum()

    x = torch.ones(3)
    if transform == "grad":
        torch.func.grad(look)(x)
    elif transform == "jvp":
        torch.func.jvp(look, (x,), (x,))
    else:
        torch.func.functionalize(look)(x)


@both
def test_describes_under_modes(how: str) -> None:
    """A mode changes what operations do, not what a real tensor is."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    tensor = torch.arange(6.0)
    for mode in (FakeTensorMode(), torch.inference_mode(), torch.no_grad(), torch.device("meta")):
        with mode:
            made = EXPORTS[how](load(), tensor)
        raw = getattr(made, "tensor", made)
        assert raw.data == tensor.data_ptr()
        assert raw.shape[0] == 6
