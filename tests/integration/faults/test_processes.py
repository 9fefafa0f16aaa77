"""Samplers, forks, races, subinterpreters and threads at exit: never a crash, a hang or a wrong table."""

from __future__ import annotations

import sys

from tests.snippets import faults
from tests.support.faults import Record, report
from tests.support.left_out import left_out_if
from tests.support.process import fork, spawn
from tests.support.this_torch import HAS_OWN_TABLE

pytestmark = left_out_if(HAS_OWN_TABLE, "torch's own table is there, whatever becomes of ours")


def test_samplers(record_property: Record) -> None:
    assert fork.call(faults.attach_under_samplers, 50) == ["dlx"]
    report(record_property, "two threads read f_locals all the time", "50 of 50 attach")


def test_attach_and_detach_races(record_property: Record) -> None:
    seen = fork.call(faults.attach_and_detach_in_threads, 100)
    assert set(seen) <= {"dlx", "none"}
    assert "dlx" in seen
    report(record_property, "four threads attach, detach and use a table", "100 rounds; the table that is kept works")


def test_fork_storms(record_property: Record) -> None:
    assert fork.call(faults.fork_while_threads_attach, 32) == ["dlx"]
    report(record_property, "32 forks beside threads that attach and detach", "32 of 32 children attach")


@left_out_if(sys.version_info < (3, 9), "there are no subinterpreters")
def test_subinterpreters(record_property: Record) -> None:
    assert spawn.call(faults.in_a_subinterpreter) == "none"
    report(record_property, "a subinterpreter without torch", "no table, with the reason")
