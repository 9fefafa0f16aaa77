"""A Python exception that is set before a call: it stays if the call succeeds, and is chained if the call fails."""

from __future__ import annotations

import ctypes

import pytest
import torch

from tests.support.foreign_tensors import ForeignTensor, prototype
from tests.support.probe import probe
from tests.support.structs import CPU, VULKAN
from tests.support.table import Outcome, table_under_test

pytestmark = pytest.mark.isolated


def outcome_of(function: str, fails: bool) -> tuple[Outcome, str]:
    """The outcome of the call, and the kind of exception that it sets if it fails."""
    table = table_under_test()
    if function == "dltensor":
        return table.try_dltensor(None if fails else torch.ones(3), pending=True)[0], "TypeError"
    if function == "owning":
        tensor = torch.ones(3, device="meta") if fails else torch.ones(3)
        return table.try_export(tensor, pending=True)[0], "BufferError"
    if function == "to_torch":
        foreign = ForeignTensor(ndim=-1 if fails else None)
        outcome, made = table.try_to_torch(foreign.address, pending=True)
        assert fails or made.sum().item() == 15.0
        return outcome, "ValueError"
    return table.try_stream(VULKAN if fails else CPU, 0, pending=True)[0], "RuntimeError"


FUNCTIONS = ["dltensor", "owning", "to_torch", "stream"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_kept_by_a_call_that_succeeds(function: str) -> None:
    outcome, _ = outcome_of(function, fails=False)
    assert outcome.rc == 0
    assert type(outcome.error) is KeyError
    assert outcome.error.__context__ is None


@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_the_context_of_a_failure(function: str) -> None:
    outcome, kind = outcome_of(function, fails=True)
    assert outcome.rc == -1
    assert type(outcome.error).__name__ == kind
    context = getattr(outcome.error, "__context__", None)
    assert type(context) is KeyError, "the exception was lost"
    assert context.__traceback__ is not None, "its traceback was lost"


def test_a_failure_has_no_context_where_nothing_was_pending() -> None:
    for outcome in (table_under_test().try_dltensor(None)[0], table_under_test().try_stream(VULKAN, 0)[0]):
        assert outcome.error is not None
        assert outcome.error.__context__ is None


@pytest.mark.parametrize("fails", [False, True])
def test_is_left_alone_by_the_allocator(fails: bool) -> None:
    rc, out = ctypes.c_int(-2), ctypes.c_void_p()
    asked = prototype((2, -3) if fails else (2, 3))
    with pytest.raises(KeyError, match="pending before the call"):
        probe().probe_allocate(
            table_under_test().raw.managed_tensor_allocator,
            ctypes.addressof(asked),
            ctypes.addressof(out),
            ctypes.addressof(rc),
        )
    assert rc.value == (-1 if fails else 0)
