"""The deleter on a thread without the GIL, while the thread that holds the GIL waits for it.

It has to end all the same, and what needs the GIL has to be freed later."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable

import pytest
import torch

from tests.support.probe import probe
from tests.support.table import load

pytestmark = pytest.mark.isolated


@pytest.fixture(autouse=True)
def _a_deadlock_ends() -> Iterator[None]:
    """By the signal's own action, which needs no interpreter."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(60)
    yield
    signal.alarm(0)


class Memory(bytearray):
    """A buffer whose end can be watched."""


def with_a_python_storage() -> tuple[Any, Callable[[], bool]]:
    tensor = torch.zeros(6)
    storage = tensor.untyped_storage()
    alive = weakref.ref(storage)
    del storage
    return tensor, lambda: alive() is not None


def of_python() -> tuple[Any, Callable[[], bool]]:
    memory = Memory(24)
    alive = weakref.ref(memory)
    return torch.frombuffer(memory, dtype=torch.float32), lambda: alive() is not None


MAKERS: dict[str, Callable[[], tuple[Any, Callable[[], bool]]]] = {
    "python_storage": with_a_python_storage,
    "memory_of_python": of_python,
    "plain": lambda: (torch.zeros(6), lambda: False),
}


def delete_while_the_gil_is_held(address: int) -> None:
    """probe() keeps the GIL, and waits for the thread."""
    function = probe().probe_delete_on_new_thread
    function.argtypes = [ctypes.c_void_p]
    assert function(address) == 0


def pass_pending_calls() -> None:
    """The main thread makes them between two instructions. CPython up to 3.11 looks at those of other threads only
    after a signal or a change of threads."""
    ctypes.pythonapi.Py_MakePendingCalls()


@pytest.mark.parametrize("name", MAKERS)
def test_the_last_owner_goes_on_a_thread_that_the_gils_holder_waits_for(name: str) -> None:
    assert threading.current_thread() is threading.main_thread()
    tensor, is_alive = MAKERS[name]()
    made = load().export(tensor)
    del tensor
    gc.collect()
    delete_while_the_gil_is_held(made.release())
    pass_pending_calls()
    gc.collect()
    assert not is_alive(), "what the thread left was never freed"


def test_many_at_once_are_all_freed() -> None:
    """More than CPython's queue of pending calls holds."""
    alive, addresses = [], []
    for _ in range(200):
        tensor, is_alive = of_python()
        alive.append(is_alive)
        addresses.append(load().export(tensor).release())
        del tensor
    for address in addresses:
        delete_while_the_gil_is_held(address)
    pass_pending_calls()
    assert [is_alive() for is_alive in alive] == [False] * 200


@pytest.mark.parametrize("call", ["export", "to_torch"])
def test_the_next_call_frees_what_waits(call: str) -> None:
    """On a thread other than the main one CPython makes no pending calls."""
    seen: list[bool] = []

    def work() -> None:
        tensor, is_alive = of_python()
        address = load().export(tensor).release()
        del tensor
        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)  # the main thread, which would make the pending call, does not come in between
        try:
            delete_while_the_gil_is_held(address)
            other = load().export(torch.ones(1))
            if call == "to_torch":
                load().to_torch(other.release())
            seen.append(is_alive())
        finally:
            sys.setswitchinterval(interval)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
