"""Several threads at once: each exports, imports and allocates, with tensors of its own and a shared one."""

from __future__ import annotations

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.support.foreign_tensors import ForeignTensor, prototype
from tests.support.table import table_under_test
from tests.support.tensors import use_count

pytestmark = pytest.mark.isolated

THREADS, ROUNDS = 4, 500


def test_threads_do_not_disturb_each_other() -> None:
    table, shared = table_under_test(), torch.arange(6.0)
    before = use_count(shared)
    start = threading.Barrier(THREADS)

    def work(number: int) -> int:
        start.wait()
        own = torch.full((2, 3), float(number))
        deleted = 0
        for _ in range(ROUNDS):
            raw = table.dltensor(own)
            assert ctypes.c_float.from_address(raw.data).value == number
            table.export(shared).delete()
            assert table.to_torch(table.export(own).release()).sum().item() == 6 * number
            made = table.allocate(prototype((16,)))
            ctypes.c_float.from_address(made.tensor.data).value = float(number)
            assert ctypes.c_float.from_address(made.tensor.data).value == number
            made.delete()
            assert table.try_dltensor(None)[0].rc == -1
        foreign = [ForeignTensor() for _ in range(8)]
        for one in foreign:
            table.to_torch(one.address)
            deleted += one.deleted
        return deleted

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == [8] * THREADS
    assert use_count(shared) == before
