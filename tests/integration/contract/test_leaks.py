"""Many calls leave no memory and no reference behind, whether they succeed or fail."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from typing import Any, Callable

import pytest
import torch

from tests.support.foreign_tensors import ForeignTensor, prototype
from tests.support.left_out import left_out_if
from tests.support.probe import probe
from tests.support.structs import CPU, VULKAN
from tests.support.table import table_under_test
from tests.support.tensors import REFUSED, Plain, use_count, without_warnings

pytestmark = [
    pytest.mark.isolated,
    left_out_if(
        "DLX_TORCH_TEST_SANITIZED" in os.environ, "a sanitizer keeps freed memory: the resident size shows no leak"
    ),
]

TIMES = 100_000
# If each call leaked the allocator's smallest block, 16 bytes, this would be 1.6 MB. Pools grow by less than half.
ALLOWED = 700_000


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def dltensor(obj: Any, times: int) -> int:
    from tests.support.structs import DLTensor

    out = DLTensor()
    function = table_under_test().raw.dltensor_from_py_object_no_sync
    return int(probe().probe_repeat_dltensor(function, id(obj), ctypes.addressof(out), times))


def owning(obj: Any, times: int) -> int:
    return int(
        probe().probe_repeat_export(table_under_test().raw.managed_tensor_from_py_object_no_sync, id(obj), times)
    )


def back_and_forth(obj: Any, times: int) -> int:
    raw = table_under_test().raw
    decref = ctypes.cast(ctypes.pythonapi.Py_DecRef, ctypes.c_void_p)
    return int(
        probe().probe_repeat_import(
            raw.managed_tensor_from_py_object_no_sync,
            raw.managed_tensor_to_py_object_no_sync,
            id(obj),
            times,
            decref,
        )
    )


def refused_import(foreign: ForeignTensor, times: int) -> int:
    function = table_under_test().raw.managed_tensor_to_py_object_no_sync
    return int(probe().probe_repeat_refused_import(function, foreign.address, times))


def allocate(asked: Any, times: int) -> int:
    return int(
        probe().probe_repeat_allocate(table_under_test().raw.managed_tensor_allocator, ctypes.addressof(asked), times)
    )


def stream(device: int, times: int) -> int:
    return int(probe().probe_repeat_stream(table_under_test().raw.current_work_stream, device, 0, times))


LOOPS: dict[str, tuple[Callable[[Any, int], int], Callable[[], Any], bool]] = {
    # the loop, its argument, whether its calls fail
    "dltensor": (dltensor, lambda: torch.ones(2, 3), False),
    "dltensor_of_a_subclass": (dltensor, lambda: torch.ones(2, 3).as_subclass(Plain), False),
    "dltensor_refused": (dltensor, REFUSED["conjugate"], True),
    "dltensor_not_a_tensor": (dltensor, lambda: type("A" * 90, (), {})(), True),  # its name is in the error
    "owning": (owning, lambda: torch.ones(2, 3), False),
    "owning_six_dims": (owning, lambda: torch.ones(1, 1, 1, 1, 2, 3), False),
    "owning_with_grad": (owning, lambda: torch.ones(3, requires_grad=True) * 2, False),
    "owning_refused": (owning, REFUSED["conjugate"], True),
    "owning_not_a_tensor": (owning, lambda: [1], True),
    "back_and_forth": (back_and_forth, lambda: torch.ones(2, 3), False),
    "back_and_forth_six_dims": (back_and_forth, lambda: torch.ones(1, 1, 1, 1, 2, 3), False),
    "back_and_forth_empty": (back_and_forth, lambda: torch.ones(0, 3), False),
    "import_refused": (refused_import, lambda: ForeignTensor(ndim=-1), True),
    "import_refused_by_dtype": (refused_import, lambda: ForeignTensor(dtype=(99, 32, 1)), True),
    "allocate": (allocate, lambda: prototype((4, 4)), False),
    "allocate_six_dims_strided": (allocate, lambda: prototype((1, 1, 1, 1, 2, 3), (6, 6, 6, 6, 1, 2)), False),
    "allocate_refused": (allocate, lambda: prototype((4, -4)), True),
    "allocate_huge": (allocate, lambda: prototype((2**58,)), True),
    "stream": (stream, lambda: CPU, False),
    "stream_refused": (stream, lambda: VULKAN, True),
}


@pytest.mark.parametrize("name", LOOPS)
def test_many_calls_leave_nothing_behind(name: str) -> None:
    loop, make, fails = LOOPS[name]
    argument = without_warnings(make)
    count = use_count(argument) if isinstance(argument, torch.Tensor) else 0
    references = sys.getrefcount(argument)
    # An error makes a string and sometimes a C++ exception. Fewer calls are enough, because each would leak more.
    times = TIMES // 5 if fails else TIMES
    expected = times if fails else 0
    loop(argument, times // 5)
    # A leak grows in each round; what grows once, such as an emulator's translated code, does not.
    for _ in range(3):
        before = peak()
        assert loop(argument, times) == expected
        grown = peak() - before
        if grown < ALLOWED:
            break
    assert grown < ALLOWED, f"each call leaves {grown / times:.1f} bytes"
    assert isinstance(argument, int) or sys.getrefcount(argument) == references
    assert count == 0 or use_count(argument) == count
