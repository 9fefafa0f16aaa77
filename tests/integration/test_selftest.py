"""The self-test of the real table, and of that table with each fault, while other threads look at this one."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from dlx_torch_ext import _selftest

from tests.support.broken_table import FAULTS, broken_table
from tests.support.left_out import left_out_if
from tests.support.sampler import SAMPLERS, sampling, tracing
from tests.support.table import table_name, table_under_test
from tests.support.this_torch import HAS_OWN_TABLE, LINE, NAME

WATCHED: dict[str, Callable[[], Any]] = {
    "alone": lambda: contextlib.nullcontext([1]),
    "traced": tracing,
    **{name: functools.partial(sampling, look) for name, look in SAMPLERS.items()},
}
OURS = table_name() == "dlx"
# `--table` has set the environment before this module is imported. What a sampler changes does not depend on torch, so
# the other releases try each fault alone.
pytestmark = left_out_if(HAS_OWN_TABLE and "DLX_TEST_TABLE" not in os.environ, f"{NAME} has a table of its own")
FAULTS_WATCHED = ["alone", "frames"] if LINE == (2, 9) else ["alone"]
RUNS = 100


def problem(table: int) -> str:
    return _selftest.problem(torch, table, ours=OURS)


@pytest.mark.isolated
@pytest.mark.parametrize("watched", WATCHED)
def test_a_right_table_passes_each_time(watched: str) -> None:
    address = table_under_test().address
    with WATCHED[watched]() as samples:
        problems = [problem(address) for _ in range(RUNS)]
    assert [found for found in problems if found] == []
    assert samples[0] > 0


@pytest.mark.isolated
def test_another_thread_never_finds_the_counted_tensor_in_a_frame() -> None:
    """So the first try of each run is enough."""
    address = table_under_test().address
    with sampling(SAMPLERS["frames"]) as samples:
        for _ in range(RUNS):
            problem(address)
    assert _selftest._kept_alive == {}
    assert samples[0] > 0


@pytest.mark.isolated
@pytest.mark.parametrize("watched", FAULTS_WATCHED)
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if OURS or fault != "refusal: exception"])
def test_each_fault_is_found(fault: str, watched: str) -> None:
    broken = broken_table(table_under_test().address, fault)
    with WATCHED[watched]():
        found = problem(broken)
    assert found.startswith("the self-test failed: ")
    assert FAULTS[fault] in found
