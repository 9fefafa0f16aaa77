"""Compares a table that torch_npu has put on torch.Tensor with torch_npu itself, in child processes: a wrong storage
kills the process that looks at it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from .._dlpack import DLPackExchangeAPI
from . import child

_EXT_DEV = 12
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_EXPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
_IMPORT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))


def findings() -> Iterator[str]:
    """What is wrong with the table, a line each. Starts a device, in children only."""
    for question in ("stream", "storage"):
        outcome = child.run(f"from dlx_torch_ext._cli import npu_table; npu_table.main({question!r})")
        if outcome.ok is False:
            detail = "the process that looked at it ended" if outcome.crashed else outcome.detail
            yield f"torch_npu's table gives a wrong {question}: {detail}; report it to torch_npu"


def main(question: str) -> None:
    """Runs in the child: answers whether the table is right."""
    import torch
    import torch_npu

    from .._capsule import table_on

    problem = {"stream": _stream, "storage": _storage}[question](torch, torch_npu, table_on(torch))
    child.answer(not problem, problem)


def _stream(torch: Any, _: Any, table: int) -> str:
    current_work_stream = _STREAM(DLPackExchangeAPI.from_address(table).current_work_stream)
    for index in range(torch.npu.device_count()):
        torch.empty(1, device=f"npu:{index}")  # makes the device's default stream
        expected, found = torch.npu.Stream(f"npu:{index}"), ctypes.c_void_p()
        with torch.npu.stream(expected):
            try:
                current_work_stream(_EXT_DEV, index, ctypes.byref(found))
            except Exception as error:
                return f"{type(error).__name__} for npu:{index}: {error}"
        if found.value != expected.npu_stream:
            seen = "NULL" if not found.value else "another stream"
            return f"{seen} for npu:{index} inside of torch.npu.stream"
    return ""


def _storage(torch: Any, torch_npu: Any, table: int) -> str:
    """A tensor that goes out and comes back must have a description of torch_npu's own."""
    api = DLPackExchangeAPI.from_address(table)
    made, back = ctypes.c_void_p(), ctypes.py_object()
    tensor = torch.empty(2, 3, device="npu:0")
    try:
        _EXPORT(api.managed_tensor_from_py_object_no_sync)(tensor, ctypes.byref(made))
        _IMPORT(api.managed_tensor_to_py_object_no_sync)(made, ctypes.byref(back))
        found, expected = (torch_npu.get_npu_format(one) for one in (back.value, tensor))
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
    return "" if found == expected else f"format {found} where torch_npu's own has {expected}"
