"""The self-test finds every kind of wrong table. The right ones call a fake torch."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import pytest
from dlx_torch_ext import _dlpack, _load, _selftest

from tests.support import fake_torch, stub
from tests.support.broken_table import FAULTS, broken_table
from tests.support.process import fork
from tests.unit.test_load import attempt

SetModule = Callable[..., Any]


@pytest.fixture
def torch(set_module: SetModule) -> Any:
    return set_module(fake_torch.torch(whole=True))


def right_table() -> int:
    library = attempt(stub.compiled())
    assert isinstance(library, _load.Library)
    return library.table


@pytest.fixture(autouse=True)
def _nothing_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even what a table of another test has left there."""
    monkeypatch.setattr(_selftest, "_kept_alive", {})


@pytest.mark.parametrize("table", [right_table, lambda: broken_table(right_table(), "")])
def test_a_right_table_passes_and_leaves_nothing_behind(table: Callable[[], int], torch: Any) -> None:
    assert _selftest.problem(torch, table(), ours=True) == ""
    assert torch.exports == {}
    assert _selftest._kept_alive == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault: str, torch: Any) -> None:
    """In a fork, because a fault may corrupt memory."""
    table = right_table()
    problem = fork.call(lambda: _selftest.problem(torch, broken_table(table, fault), ours=True))
    assert problem.startswith("the self-test failed: ")
    assert FAULTS[fault] in problem


@pytest.mark.parametrize("fault", ["refusal: nothing", "refusal: silent failure", "refusal: exception"])
def test_tables_of_others_may_refuse_with_another_exception(fault: str, torch: Any) -> None:
    problem = _selftest.problem(torch, broken_table(right_table(), fault), ours=False)
    assert bool(problem) is (fault != "refusal: exception")


@pytest.mark.parametrize("late", ["import: deleter never runs", "import: leak"])
def test_what_a_late_deleter_would_read_stays_alive(late: str, torch: Any) -> None:
    assert _selftest.problem(torch, broken_table(right_table(), late), ours=True)
    assert len(_selftest._kept_alive) == _selftest._TRIES


def test_who_delays_the_end_of_a_tensor_for_a_while_does_not_make_a_right_table_wrong(torch: Any) -> None:
    """As another thread does that lists all objects."""
    right = torch.fake_import
    kept: list[Any] = []

    def keep_three(managed: int) -> Any:
        made = right(managed)
        if len(kept) < 3:
            kept.append(made)
        return made

    torch.fake_import = keep_three
    assert _selftest.problem(torch, right_table(), ours=True) == ""
    assert len(kept) == 3


def test_an_exception_of_python_code_is_a_problem(torch: Any) -> None:
    def refuse(count: int, **_: object) -> Any:
        raise ValueError("no memory")

    torch.empty = refuse
    assert _selftest.problem(torch, right_table(), ours=True) == "the self-test failed: ValueError: no memory"


@pytest.mark.parametrize(("ndim", "read"), [(2, 2), (1, 1), (0, 0), (-1, 0), (3, 0), (2**31 - 1, 0)])
def test_no_more_sizes_are_read_than_there_can_be(ndim: int, read: int) -> None:
    numbers = ctypes.c_int64 * 2
    tensor = _dlpack.DLTensor(None, (1, 0), ndim, (2, 32, 1), numbers(2, 3), numbers(3, 1), 0)
    fields = _selftest._read_fields(tensor)
    assert (fields["shape"], fields["strides"]) == ((2, 3)[:read], (3, 1)[:read])


def test_dtypes_have_the_names_of_torch() -> None:
    words = {0: "int32", 1: "uint32", 2: "float32", 4: "bfloat32", 5: "complex32", 6: "bool32"}
    assert {code: _selftest._dtype_name(code, 32, 1) for code in words} == words
    assert _selftest._dtype_name(2, 32, 4) == "float32 x 4 lanes"
    assert _selftest._dtype_name(99, 8, 1) == "DLPack dtype code 99, bits 8"
