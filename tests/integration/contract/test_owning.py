"""Owning export: what it keeps alive, until when, on which thread it is deleted, and what it does not share."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any, Callable

import pytest
import torch

from tests.snippets import at_exit
from tests.support.probe import probe_without_gil
from tests.support.process import spawn
from tests.support.table import ManagedTensor, table_name, table_under_test
from tests.support.tensors import use_count

pytestmark = pytest.mark.isolated


class Memory(bytearray):
    """A buffer that can have weak references."""


def tensor_and_memory() -> tuple[Any, Any]:
    """A tensor, and a weak reference to its memory."""
    memory = Memory(24)
    tensor = torch.frombuffer(memory, dtype=torch.float32).reshape(2, 3)
    return tensor, weakref.ref(memory)


def on_new_thread(address: int) -> None:
    assert probe_without_gil().probe_delete_on_new_thread(address) == 0


DELETES: dict[str, Callable[[ManagedTensor], None]] = {
    "here": lambda made: made.delete(),
    "on_a_thread_unknown_to_python": lambda made: made.delete(on_new_thread),
}


def test_states_version_and_flags() -> None:
    made = table_under_test().export(torch.ones(3))
    assert (made.raw.version.major, made.raw.version.minor) == (1, 3)
    assert made.raw.flags == 0
    assert made.raw.deleter
    made.delete()


@pytest.mark.parametrize("how", DELETES)
def test_outlives_the_python_tensor(how: str) -> None:
    tensor, alive = tensor_and_memory()
    made = table_under_test().export(tensor)
    del tensor
    gc.collect()
    assert alive() is not None, "the memory was freed with the Python tensor"
    ctypes.c_float.from_address(made.tensor.data).value = 5.0
    DELETES[how](made)
    gc.collect()
    assert alive() is None, "the memory was never freed"


@pytest.mark.parametrize("how", DELETES)
def test_lets_go_of_a_living_tensor(how: str) -> None:
    tensor, _alive = tensor_and_memory()
    before = use_count(tensor)
    first, second = table_under_test().export(tensor), table_under_test().export(tensor)
    assert use_count(tensor) > before
    DELETES[how](first)
    DELETES[how](second)
    assert use_count(tensor) == before
    assert tensor.sum().item() == 0.0


@pytest.mark.parametrize("how", DELETES)
def test_lets_go_of_a_tensor_with_a_gradient(how: str) -> None:
    leaf = torch.nn.Parameter(torch.ones(2, 3))
    made = table_under_test().export(leaf * 2)
    (leaf * 3).sum().backward()
    DELETES[how](made)
    assert leaf.grad.tolist() == [[3.0] * 3] * 2


IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "t_": lambda t: t.t_(),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
    "resize_to_six_dims": lambda t: t.resize_(1, 2, 1, 1, 1, 3),
    "resize_to_one": lambda t: t.resize_(1),
    "as_strided_": lambda t: t.as_strided_((3,), (2,)),
    "set_": lambda t: t.set_(torch.zeros(5)),
    "data": lambda t: setattr(t, "data", torch.zeros(7, 1)),
}


@pytest.mark.parametrize("dims", [2, 6])
@pytest.mark.parametrize("change", IN_PLACE)
def test_is_not_disturbed_by_changes_in_place(change: str, dims: int) -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    if dims > 2 and change == "t_":
        tensor = tensor.reshape(6, 1)
    elif dims > 2:
        tensor = tensor.reshape(1, 1, 1, 1, 2, 3)
    shape, strides, address = tuple(tensor.shape), tensor.stride(), tensor.data_ptr()
    made = table_under_test().export(tensor)
    IN_PLACE[change](tensor)
    assert (made.shape, made.strides) == (shape, strides)
    assert made.tensor.data == address
    assert (ctypes.c_float * 6).from_address(address)[:] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    made.delete()


LEAVE: dict[str, Callable[[], bool]] = {
    "memory_of_torch": at_exit.leave_memory_of_torch,
    "memory_of_python": at_exit.leave_memory_of_python,
}


@pytest.mark.parametrize("memory", LEAVE)
def test_the_deleter_runs_after_the_interpreter_is_gone(memory: str) -> None:
    assert spawn.call(LEAVE[memory], env={"DLX_TEST_TABLE": table_name()})
