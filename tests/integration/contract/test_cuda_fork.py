"""The stream in a forked child: none where the parent had used the device, the child's own where it had not."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.left_out import left_out_if
from tests.support.structs import CPU, CUDA
from tests.support.table import Table, load
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]


def c_fork() -> int:
    """As a library in C forks, of which CPython hears nothing."""
    fork = ctypes.PyDLL(None).fork
    fork.restype = ctypes.c_int
    return int(fork())


FORKS: dict[str, Callable[[], int]] = {"os.fork": os.fork, "fork": c_fork}


def in_a_child(fork: Callable[[], int], ask: Callable[[], Any]) -> Any:
    """What `ask` answers in a child, through JSON."""
    reader, writer = os.pipe()
    child = fork()
    if child == 0:
        signal.alarm(60)
        os.write(writer, json.dumps(ask()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    return json.loads(answer)


def ask(table: Table, device: int) -> list[Any]:
    outcome, stream = table.try_stream(device, 0)
    return [outcome.rc, type(outcome.error).__name__, str(outcome.error), stream]


TEXT = (
    "dlx-torch: this process was forked after its parent had used the cuda device, which does not work in a child:"
    " start it by 'spawn' or 'forkserver'"
)


@pytest.mark.parametrize("fork", FORKS)
def test_a_child_of_a_parent_that_used_the_device_has_none(fork: str) -> None:
    table = load()
    torch.empty(1, device="cuda")
    assert ask(table, CUDA)[0] == 0
    for _ in range(2):
        rc, kind, text, _ = in_a_child(FORKS[fork], lambda: ask(table, CUDA))
        assert (rc, kind, text) == (-1, "RuntimeError", TEXT)
    assert in_a_child(FORKS[fork], lambda: ask(table, CPU)) == [0, "NoneType", "None", None]
    assert ask(table, CUDA)[0] == 0, "the parent keeps its stream"


@pytest.mark.parametrize("fork", FORKS)
def test_a_child_of_a_parent_that_did_not_has_its_own(fork: str) -> None:
    table = load()

    def child() -> list[Any]:
        before = ask(table, CUDA)[0]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            return [before, ask(table, CUDA)[3] == stream.cuda_stream]

    assert in_a_child(FORKS[fork], child) == [0, True]
