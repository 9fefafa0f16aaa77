"""The first allocations of two threads, one with the GIL and one without, while torch records where memory comes from.

torch's recorder takes the GIL inside the allocation. A lock of ours that is held across it would be a deadlock; that
ends with the timeout of a fork.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch

from tests.support.compiled import library
from tests.support.foreign_tensors import prototype
from tests.support.left_out import left_out_if
from tests.support.structs import CUDA
from tests.support.table import ManagedTensor, table_under_test
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]

SOURCE = Path(__file__).parents[2] / "support" / "two_threads.c"


@pytest.mark.parametrize("recorded", [True, False])
def test_of_two_threads_at_once(recorded: bool) -> None:
    table, asked = table_under_test(), prototype((16,), device=(CUDA, 0))
    path = str(library(SOURCE, "-pthread"))
    with_gil, without_gil = ctypes.PyDLL(path), ctypes.CDLL(path)
    torch.cuda.init()
    torch.cuda.memory._record_memory_history("all" if recorded else None)
    here, there = ctypes.c_void_p(), ctypes.c_void_p()
    pointers = [ctypes.c_void_p(table.raw.managed_tensor_allocator), ctypes.byref(asked)]
    assert with_gil.allocate_here_while_there(*pointers, ctypes.byref(here), ctypes.byref(there)) == 0
    assert without_gil.wait_for_there() == 0
    for made in (here, there):
        assert made.value
        ManagedTensor(made.value).delete()
    assert torch.cuda.memory_allocated(0) == 0
