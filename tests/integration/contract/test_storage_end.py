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
