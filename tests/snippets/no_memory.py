"""Calls of the table, each of whose allocations fails once; for a process with failing_malloc.c in LD_PRELOAD."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, Callable

PAIR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def _calls(call: Callable[[int, Any], tuple[str, str]]) -> list[tuple[str, str]]:
    """The answers of call(nth, reached), until it needs no nth malloc."""
    answers: list[tuple[str, str]] = []
    for nth in itertools.count(1):
        reached = ctypes.c_int()
        answer = call(nth, ctypes.byref(reached))
        if not reached.value:
            assert answer == ("", ""), f"without a failure: {answer}"
            return answers
        answers.append(answer)
    raise AssertionError


def _failing(function: int, a: int, b: int) -> Callable[[int, Any], tuple[str, str]]:
    library = ctypes.PyDLL(None)
    library.call_failing.argtypes = [ctypes.c_long, PAIR, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]

    def call(nth: int, reached: Any) -> tuple[str, str]:
        try:
            assert library.call_failing(nth, PAIR(function), a, b, reached) == 0
        except Exception as error:  # ctypes raises what the function has set
            return type(error).__name__, str(error)
        return "", ""

    return call


def of_exports() -> Any:
    """The errors of managed_tensor_from_py_object_no_sync, and the owners of the storage before and after."""
    import torch

    from tests.support.table import ManagedTensor, table_under_test
    from tests.support.tensors import use_count

    table, tensor, out = table_under_test(), torch.ones(2, 3), ctypes.c_void_p()
    table.export(tensor).delete()
    before = use_count(tensor)
    answers = _calls(_failing(table.raw.managed_tensor_from_py_object_no_sync, id(tensor), ctypes.addressof(out)))
    assert out.value is not None
    ManagedTensor(out.value).delete()
    return [answers, before, use_count(tensor)]


def of_imports() -> Any:
    """The errors of managed_tensor_to_py_object_no_sync, and the deleter's runs before the tensor goes and after it."""
    from tests.support.foreign_tensors import ForeignTensor
    from tests.support.table import table_under_test

    table, foreign, out = table_under_test(), ForeignTensor(), ctypes.c_void_p()
    made_before = table.to_torch(ForeignTensor().address)  # what only the first call makes
    del made_before
    answers = _calls(_failing(table.raw.managed_tensor_to_py_object_no_sync, foreign.address, ctypes.addressof(out)))
    before = foreign.deleted
    assert out.value is not None
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(ctypes.cast(out.value, ctypes.py_object).value))
    return [answers, before, foreign.deleted]


def of_allocations() -> Any:
    """The errors of the allocator."""
    from tests.support.foreign_tensors import prototype
    from tests.support.table import ManagedTensor, table_under_test

    table, out, asked = table_under_test(), ctypes.c_void_p(), prototype((2, 3))
    library = ctypes.PyDLL(None)
    library.allocate_failing.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 5]

    def call(nth: int, reached: Any) -> tuple[str, str]:
        error = ctypes.create_string_buffer(512)
        function, place = table.raw.managed_tensor_allocator, ctypes.addressof(out)
        rc = library.allocate_failing(nth, function, ctypes.addressof(asked), place, error, reached)
        assert (rc == -1) == bool(error.value) == (out.value is None)
        kind, _, text = error.value.decode().partition(": ")
        return kind, text

    table.allocate(asked).delete()
    answers = _calls(call)
    assert out.value is not None
    ManagedTensor(out.value).delete()
    return answers
