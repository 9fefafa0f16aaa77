"""Measures in one of the environments: python -m tools.bench.worker. First prints what is there, then, for each line on
stdin, a line of JSON with the time of each operation in ns. Runs in the tests' environment."""

from __future__ import annotations

import ctypes
import json
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import torch
import tvm_ffi
import tvm_ffi.testing

from tests.support.foreign_tensors import prototype
from tests.support.probe import probe
from tests.support.structs import CPU, DLTensor
from tests.support.table import Table, capsule_address
from tests.support.tensors import Plain

# A turn is short, so that what else the machine does meets all providers alike; its least time was not interrupted.
C_CALLS, PYTHON_CALLS, REPETITIONS = 5_000, 500, 5

TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "contiguous": lambda: torch.ones(4, 4),
    "strided": lambda: torch.ones(4, 4).t(),
    "0-d": lambda: torch.ones(()),
    "8-d strided": lambda: torch.ones(2, 2, 2, 2, 2, 2, 2, 2).permute(7, 6, 5, 4, 3, 2, 1, 0),
    "Parameter": lambda: torch.nn.Parameter(torch.ones(4, 4)),
    "subclass": lambda: torch.ones(4, 4).as_subclass(Plain),
    "requires_grad": lambda: torch.ones(4, 4, requires_grad=True),
}

kept: list[Any] = []  # what C code is given addresses of


def main() -> None:
    tvm_ffi.testing.nop(torch.ones(1))  # whatever tvm-ffi compiles or loads comes now
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    operations = {**of_c(capsule), **of_python()} if capsule is not None else of_python()
    print(json.dumps({"torch": torch.__version__, "table": capsule is not None, "names": list(operations)}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({name: measure() for name, measure in operations.items()}), flush=True)


def of_c(capsule: Any) -> dict[str, Callable[[], float]]:
    """The functions of the table, called from C. The loop's own cost is the first line."""
    raw, out = Table(capsule_address(capsule)).raw, DLTensor()
    bound = probe()
    decref = ctypes.cast(ctypes.pythonapi.Py_DecRef, ctypes.c_void_p)
    nothing = ctypes.cast(bound.probe_nothing, ctypes.c_void_p)
    asked = prototype((4, 4))
    kept.append(asked)
    operations = {
        "an empty function": _c(bound.probe_repeat_dltensor, nothing, 0, 0),
        "allocate and delete": _c(bound.probe_repeat_allocate, raw.managed_tensor_allocator, ctypes.addressof(asked)),
        "stream": _c(bound.probe_repeat_stream, raw.current_work_stream, CPU, 0),
    }
    kept.append(out)
    for name, make in TENSORS.items():
        tensor = make()
        kept.append(tensor)
        export, address = raw.managed_tensor_from_py_object_no_sync, id(tensor)
        borrowed = _c(bound.probe_repeat_dltensor, raw.dltensor_from_py_object_no_sync, address, ctypes.addressof(out))
        operations[f"DLTensor, {name}"] = borrowed
        operations[f"export and delete, {name}"] = _c(bound.probe_repeat_export, export, address)
        back = raw.managed_tensor_to_py_object_no_sync
        operations[f"export and import, {name}"] = _c(bound.probe_repeat_import, export, back, address, last=(decref,))
    return operations


def _c(loop: Any, *arguments: Any, last: tuple[Any, ...] = ()) -> Callable[[], float]:
    def measure() -> float:
        best = float("inf")
        for _ in range(REPETITIONS):
            begin = time.perf_counter_ns()
            failed = loop(*arguments, C_CALLS, *last)
            best = min(best, (time.perf_counter_ns() - begin) / C_CALLS)
            if failed:
                raise RuntimeError(f"{failed} of {C_CALLS} calls failed")
        return best

    return measure


def of_python() -> dict[str, Callable[[], float]]:
    """Calls through tvm-ffi, as Python code makes them."""
    x, y, z = (torch.ones(4, 4) for _ in range(3))
    names = {"x": x, "y": y, "z": z, "nop": tvm_ffi.testing.nop, "echo": tvm_ffi.testing.echo}
    names |= {"many": [torch.ones(4) for _ in range(100)], "from_dlpack": tvm_ffi.from_dlpack}
    calls = ("nop(x)", "nop(x, y, z)", "nop(x, y, z, x, y, z, x, y, z)", "nop(many)", "echo(x)", "from_dlpack(x)")
    return {call: _python(timeit.Timer(call, globals=names)) for call in calls}


def _python(timer: timeit.Timer) -> Callable[[], float]:
    return lambda: min(timer.repeat(REPETITIONS, PYTHON_CALLS)) / PYTHON_CALLS * 1e9


if __name__ == "__main__":
    main()
