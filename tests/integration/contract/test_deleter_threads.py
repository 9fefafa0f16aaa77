"""The deleter on a thread without the GIL, while the thread that holds the GIL waits for it.

It must not wait for the GIL, and what needs the GIL has to be freed later. A deadlock ends with the timeout of a fork.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref
from typing import Any, Callable

import pytest
import torch

from tests.support.probe import probe
from tests.support.structs import DLManagedTensorVersioned
from tests.support.table import table_under_test

pytestmark = pytest.mark.isolated


class Memory(bytearray):
    """A buffer that can have weak references."""


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
    made = table_under_test().export(tensor)
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
        addresses.append(table_under_test().export(tensor).release())
        del tensor
    for address in addresses:
        delete_while_the_gil_is_held(address)
    pass_pending_calls()
    assert [is_alive() for is_alive in alive] == [False] * 200


def alive_after(act: Callable[[int], object]) -> bool:
    """Whether memory of Python's is still there after `act` on the managed tensor that holds it.

    On a thread other than the main one, because CPython makes no pending calls there; and the main thread does not
    come in between.
    """
    seen: list[bool] = []

    def work() -> None:
        tensor, is_alive = of_python()
        address = table_under_test().export(tensor).release()
        del tensor
        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)
        try:
            act(address)
            seen.append(is_alive())
        finally:
            sys.setswitchinterval(interval)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.parametrize("call", ["export", "to_torch"])
def test_the_next_call_frees_what_waits(call: str) -> None:
    def act(address: int) -> None:
        delete_while_the_gil_is_held(address)
        other = table_under_test().export(torch.ones(1))
        if call == "to_torch":
            table_under_test().to_torch(other.release())

    assert not alive_after(act)


def test_without_the_gil_it_waits() -> None:
    assert alive_after(delete_while_the_gil_is_held)


def test_with_the_gil_it_is_freed_at_once() -> None:
    def act(address: int) -> None:
        deleter = DLManagedTensorVersioned.from_address(address).deleter
        ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)

    assert not alive_after(act)
