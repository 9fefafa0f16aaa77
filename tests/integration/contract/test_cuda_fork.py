"""The stream in a forked child: an error if the parent had used the device, and the child's own if it had not."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.left_out import left_out_if
from tests.support.process import fork
from tests.support.structs import CPU, CUDA
from tests.support.table import Table, table_under_test
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]


def c_fork() -> int:
    """Forks as a library in C does, which CPython does not notice."""
    function = ctypes.PyDLL(None).fork
    function.restype = ctypes.c_int
    return int(function())


FORKS: dict[str, Callable[[], int]] = {"os.fork": os.fork, "fork": c_fork}


def in_a_child(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the function, through JSON, in a child of the fork with that name."""
    return fork.run(lambda: json.dumps(function(*arguments)), fork=FORKS[name]).value


def stream_of(table: Table, device: int) -> list[Any]:
    """The return code, the kind and the text of the error, and the stream."""
    outcome, stream = table.try_stream(device, 0)
    return [outcome.rc, type(outcome.error).__name__, str(outcome.error), stream]


TEXT = (
    "dlx-torch: this process was forked after its parent had used the cuda device, which does not work in a child:"
    " start it by 'spawn' or 'forkserver'"
)


@pytest.mark.parametrize("name", FORKS)
def test_a_child_of_a_parent_that_used_the_device_has_none(name: str) -> None:
    table = table_under_test()
    torch.empty(1, device="cuda")
    assert stream_of(table, CUDA)[0] == 0
    for _ in range(2):
        rc, kind, text, _ = in_a_child(name, stream_of, table, CUDA)
        assert (rc, kind, text) == (-1, "RuntimeError", TEXT)
    assert in_a_child(name, stream_of, table, CPU) == [0, "NoneType", "None", None]
    assert stream_of(table, CUDA)[0] == 0, "the parent keeps its stream"


@pytest.mark.parametrize("name", FORKS)
def test_a_child_of_a_parent_that_did_not_has_its_own(name: str) -> None:
    table = table_under_test()

    def child() -> list[Any]:
        before = stream_of(table, CUDA)[0]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            return [before, stream_of(table, CUDA)[3] == stream.cuda_stream]

    assert in_a_child(name, child) == [0, True]


@pytest.mark.parametrize("used", [True, False])
def test_the_first_question_in_a_child_keeps_a_pending_exception(used: bool) -> None:
    """torch is asked, in Python, whether the child may use the device."""
    table = table_under_test()
    if used:
        torch.empty(1, device="cuda")

    def child() -> list[Any]:
        outcome, _ = table.try_stream(CUDA, 0, pending=True)
        error = outcome.error.__context__ if used and outcome.error else outcome.error
        return [outcome.rc, type(error).__name__, str(error)]

    assert in_a_child("os.fork", child) == [-1 if used else 0, "KeyError", "'pending before the call'"]
