"""A tensor whose sizes reach past the end of its storage is refused: its reader would crash, or read other memory."""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import pytest
import torch

from tests.support.table import assert_refuses, table_under_test

pytestmark = pytest.mark.isolated


def shrunk(made: Any, size: int) -> Any:
    made.untyped_storage().resize_(size)
    return made


def after_a_failed_resize() -> Any:
    made = torch.frombuffer(bytearray(64), dtype=torch.uint8)[:0]
    with contextlib.suppress(RuntimeError):
        made.resize_(1 << 20)
    assert made.numel() == 1 << 20
    return made


BEYOND: dict[str, Callable[[], Any]] = {
    "shrunk": lambda: shrunk(torch.zeros(1 << 20), 16),
    "shrunk_by_one_element": lambda: shrunk(torch.zeros(4), 12),
    "shrunk_by_one_byte": lambda: shrunk(torch.zeros(4), 15),
    "shrunk_behind_an_offset": lambda: shrunk(torch.zeros(8)[3:], 16),
    "shrunk_0d": lambda: shrunk(torch.zeros(()), 3),
    "shrunk_strided": lambda: shrunk(torch.zeros(4, 4).t(), 48),
    "shrunk_8d": lambda: shrunk(torch.zeros(2, 2, 2, 2, 2, 2, 2, 2).permute(7, 6, 5, 4, 3, 2, 1, 0), 1020),
    "shrunk_expanded": lambda: shrunk(torch.zeros(1).expand(5), 2),
    "failed_resize": after_a_failed_resize,
}
WITHIN: dict[str, Callable[[], Any]] = {
    "whole": lambda: torch.arange(16.0),
    "shrunk_to_fit": lambda: shrunk(torch.zeros(8), 16)[:4],
    "shrunk_but_empty": lambda: shrunk(torch.zeros(8), 4)[8:],
    "strided": lambda: torch.arange(16.0).reshape(4, 4).t(),
    "last_element": lambda: torch.arange(16.0)[15:],
    "every_other": lambda: torch.arange(16.0)[1::2],
    "expanded": lambda: torch.zeros(1).expand(1 << 40),
    "overlapping": lambda: torch.arange(4.0).as_strided((3, 2), (1, 1)),
    "8d": lambda: torch.zeros(2, 2, 2, 2, 2, 2, 2, 2).permute(7, 6, 5, 4, 3, 2, 1, 0),
    "packed_pairs": lambda: torch.zeros(4, dtype=getattr(torch, "float4_e2m1fn_x2", torch.uint8)),
}


@pytest.mark.parametrize("name", BEYOND)
def test_refused_in_both_forms(name: str) -> None:
    tensor = BEYOND[name]()
    for call in (table_under_test().dltensor, table_under_test().export):
        text = assert_refuses(BufferError, lambda call=call: call(tensor))
        assert "reach past the end of its storage" in text


@pytest.mark.parametrize("name", WITHIN)
def test_exported_in_both_forms(name: str) -> None:
    tensor = WITHIN[name]()
    assert table_under_test().dltensor(tensor).ndim == tensor.ndim
    made = table_under_test().export(tensor)
    assert made.shape == tuple(tensor.shape)
    made.delete()


def test_the_text_says_how_much_is_there() -> None:
    text = assert_refuses(BufferError, lambda: table_under_test().dltensor(shrunk(torch.zeros(4), 12)))
    assert text == (
        "dlx-torch: cannot export a tensor of 4 elements of 4 bytes that reach past the end of its storage of 12 bytes:"
        " resize the storage first"
    )


def change(made: Any, **fields: Any) -> int:
    """What a consumer makes of a managed tensor of ours."""
    for name, value in fields.items():
        if name == "shape":
            made.tensor.shape[0] = value
        elif name == "dtype":
            made.tensor.dtype.code, made.tensor.dtype.bits, made.tensor.dtype.lanes = value
        else:
            setattr(made.tensor, name, value)
    return int(made.address)


LARGER: dict[str, dict[str, Any]] = {
    "shape": {"shape": 1 << 28},
    "one_more": {"shape": 25},
    "dtype": {"dtype": (2, 64, 1)},
    "byte_offset": {"byte_offset": 4},
    "byte_offset_past_the_end": {"byte_offset": 1 << 40},
    "another_address": {"data": 1 << 20},
}


@pytest.mark.parametrize("name", LARGER)
def test_a_managed_tensor_of_ours_that_names_other_memory_is_refused(name: str) -> None:
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    address = change(made, **LARGER[name])
    text = assert_refuses(ValueError, lambda: table_under_test().to_torch(address))
    assert "that do not lie in the 96 bytes of torch's storage" in text
    made.delete()
    assert tensor.sum().item() == 276.0


WITHIN_ITSELF: dict[str, tuple[dict[str, Any], list[float] | None]] = {
    "smaller": ({"shape": 2}, [0.0, 1.0]),
    "later": ({"shape": 2, "byte_offset": 8}, [2.0, 3.0]),
    "another_dtype": ({"shape": 96, "dtype": (1, 8, 1)}, None),
    "misaligned": ({"shape": 1, "byte_offset": 2}, None),
    "the_last_bytes": ({"shape": 1, "byte_offset": 92}, [23.0]),
}


@pytest.mark.parametrize("name", WITHIN_ITSELF)
def test_a_managed_tensor_of_ours_may_change_within_its_memory(name: str) -> None:
    fields, values = WITHIN_ITSELF[name]
    tensor = torch.arange(24.0)
    made = table_under_test().export(tensor)
    back = table_under_test().to_torch(change(made, **fields))
    made.release()
    assert back.numel() == fields["shape"]
    assert tensor.data_ptr() <= back.data_ptr() < tensor.data_ptr() + 96
    if values is not None:
        assert back.tolist() == values
