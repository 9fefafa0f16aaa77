"""Owning exports whose deleter runs when the process unloads a library: after the interpreter is gone."""

from __future__ import annotations

from typing import Any

import torch

from tests.support.probe import probe
from tests.support.table import table_under_test


def delete_at_exit(tensor: Any) -> None:
    assert probe().probe_delete_at_exit(table_under_test().export(tensor).release()) == 0


def leave_memory_of_torch() -> bool:
    living = torch.ones(2, 3)
    delete_at_exit(living)
    delete_at_exit(torch.ones(4))
    delete_at_exit(torch.ones(1, 1, 1, 1, 1, 2))
    delete_at_exit(torch.nn.Parameter(torch.ones(3)))
    delete_at_exit(torch.nn.Parameter(torch.ones(3)) * 2)
    delete_at_exit(table_under_test().to_torch(table_under_test().export(living).release()))
    return True


def leave_memory_of_python() -> bool:
    """torch frees such memory under the GIL, which nobody can take any more."""
    delete_at_exit(torch.frombuffer(bytearray(16), dtype=torch.float32))
    return True
