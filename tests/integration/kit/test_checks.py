"""What `require`, `like` and their kind let through, and what they say otherwise."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

from tests.support.kit import kit
from tests.support.left_out import left_out_if
from tests.support.this_torch import HAS_OWN_TABLE

TORCHS_OWN = HAS_OWN_TABLE and "DLX_TEST_TABLE" not in os.environ


def test_saxpy_with_and_without_an_output() -> None:
    x, y, out = torch.arange(5.0), torch.ones(5), torch.empty(5)
    assert kit().saxpy(2, x, y, out) is out
    assert out.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    made = kit().saxpy(a=2.0, y=y, x=x)
    assert type(made) is torch.Tensor
    assert made.tolist() == out.tolist()


def test_slices_begin_where_they_begin() -> None:
    x = torch.arange(8.0)
    assert kit().saxpy(1, x[3:5], x[0:2]).tolist() == [3.0, 5.0]


@pytest.mark.parametrize("shape", [(0,), (1,), (7,)])
def test_sizes_of_every_kind(shape: tuple[int, ...]) -> None:
    assert kit().saxpy(1, torch.ones(shape), torch.ones(shape)).shape == shape


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"x": torch.ones(3).double()}, TypeError, "argument 2 'x': its dtype is float64; float32 is needed"),
    ({"y": torch.ones(3).bfloat16()}, TypeError, "argument 3 'y': its dtype is bfloat16; float32 is needed"),
    ({"x": torch.ones(3, 1)}, ValueError, "argument 2 'x': its shape is (3, 1); 1 dimension is needed"),
    ({"x": torch.tensor(1.0)}, ValueError, "argument 2 'x': its shape is (); 1 dimension is needed"),
    (
        {"y": torch.ones(4)},
        ValueError,
        "argument 3 'y': its shape is (4,); (3,) is needed, as argument 2 'x' has",
    ),
    (
        {"x": torch.ones(6)[::2]},
        ValueError,
        "argument 2 'x': is not contiguous; make it so first (in torch: .cont",
    ),
    ({"out": torch.ones(6)[::2]}, ValueError, "argument 4 'out': is not contiguous; make it so first"),
]


@pytest.mark.parametrize(("changed", "kind", "text"), WRONG)
def test_what_does_not_fit_is_named(changed: dict[str, Any], kind: type[Exception], text: str) -> None:
    given = {"x": torch.ones(3), "y": torch.ones(3), **changed}
    with pytest.raises(kind) as raised:
        kit().saxpy(1.0, **given)
    assert str(raised.value).startswith(f"saxpy: {text}")


def test_named_sizes_are_one_in_the_whole_call() -> None:
    kit().matmul_sizes(torch.ones(2, 3), torch.ones(3, 4))
    text = "matmul: argument 2 'y': its size 0, 'inner', is 5; 3 is needed, as in argument 1 'x'"
    with pytest.raises(ValueError, match=f"^{text}$"):
        kit().matmul_sizes(torch.ones(2, 3), torch.ones(5, 4))
    with pytest.raises(ValueError, match=r"^matmul: argument 2 'y': its size 1 is 5; 4 is needed$"):
        kit().matmul_sizes(torch.ones(2, 3), torch.ones(3, 5))


LAYOUTS = {
    "contiguous": torch.ones(4, 6),
    "rows": torch.ones(4, 12)[:, :6],
    "columns": torch.ones(6, 4).t(),
    "one row": torch.ones(8, 6)[::8],
    "empty": torch.ones(4, 12)[:0, ::2],
}
FITS = {"c": {"contiguous", "one row", "empty"}, "d": {"contiguous", "rows", "one row", "empty"}, "s": set(LAYOUTS)}


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(kind: str, name: str) -> None:
    if name in FITS[kind]:
        kit().layout(LAYOUTS[name], kind)
    else:
        with pytest.raises(ValueError, match=r"is not contiguous|its last dimension is not dense: its stride is \d+"):
            kit().layout(LAYOUTS[name], kind)


def test_memory_that_loads_cannot_use_is_refused() -> None:
    memory = torch.zeros(65 * 4, dtype=torch.uint8)
    at = -memory.data_ptr() % 64
    kit().layout(memory[at : at + 32].view(torch.float32).view(2, 4), "a")
    with pytest.raises(ValueError, match=r"its memory begins at 0x[0-9a-f]+; a multiple of 64 is needed"):
        kit().layout(memory[at + 4 : at + 36].view(torch.float32).view(2, 4), "a")


def test_a_view_says_what_torch_says() -> None:
    for tensor in (torch.ones(2, 3), torch.ones(3, 2).t()[1:], torch.tensor(1.0), torch.ones(2, 0, 3).half()):
        shape, strides, dtype, device, address = kit().describe(tensor)
        assert shape == tuple(tensor.shape)
        # Up to torch 2.8 __dlpack__ gives dimensions with nothing to step over a stride of 1.
        stepped = [i for i in range(tensor.dim()) if tensor.numel() and tensor.shape[i] > 1]
        assert [strides[i] for i in stepped] == [tensor.stride(i) for i in stepped]
        assert f"torch.{dtype}" == str(tensor.dtype)
        assert (device, address) == ("cpu", tensor.data_ptr())


def test_what_requires_a_gradient_is_described_with_and_without_a_table() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    assert kit().saxpy(1.0, parameter, torch.ones(3, requires_grad=True)).tolist() == [2.0, 2.0, 2.0]


conjugate = pytest.param(
    torch.ones(2, dtype=torch.complex64).conj(),
    marks=left_out_if(TORCHS_OWN, "torch's own table describes conjugate tensors as if they were not"),
)


@pytest.mark.parametrize("tensor", [conjugate, torch.ones(2).to_sparse()])
def test_what_is_not_plain_memory_is_an_error_of_one_line(tensor: Any) -> None:
    with pytest.raises((BufferError, RuntimeError, TypeError)) as raised:
        kit().describe(tensor)
    assert str(raised.value).startswith("argument 1: ")
    assert len(str(raised.value).splitlines()) == 1
    assert raised.value.__cause__ is not None
