"""What every snippet that runs on a simulated Ascend begins with: our table, and ways to ask."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

import dlx_torch_ext
import torch
import torch_npu

from tests.simulators.ascend import recorder
from tests.support.foreign_tensors import Foreign, prototype
from tests.support.structs import EXT_DEV
from tests.support.table import AllocatorError, Table, capsule_address

__all__ = [
    "EXT_DEV",
    "STATUS",
    "Foreign",
    "Table",
    "capsule_address",
    "ctypes",
    "json",
    "own",
    "prototype",
    "recorder",
    "seen",
    "settled",
    "table",
    "told",
    "torch",
    "torch_npu",
]

STATUS = dlx_torch_ext.attach()


def table() -> Table:
    """The table that consumers see now."""
    return Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))


def seen() -> list[int | None]:
    """The stream of each device, asked of the table."""
    return [table().stream(EXT_DEV, index) for index in (0, 1)]


def own() -> list[int]:
    """The same, asked of torch_npu."""
    return [torch.npu.current_stream(index).npu_stream for index in (0, 1)]


def told(call: Callable[[], Any]) -> list[str]:
    """The kind and the text of the exception that a call ends in."""
    try:
        call()
    except AllocatorError as error:
        return [error.kind, str(error)]
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["nothing", ""]


def settled(device: str) -> Any:
    """A tensor, with its operators compiled and nothing queued."""
    x = torch.zeros(64, 64, device=device)
    x.add_(x).copy_(x.clone())
    torch.npu.synchronize(device)
    return x
