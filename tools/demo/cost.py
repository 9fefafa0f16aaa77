"""Measure how long a call of a tvm-ffi function with tensors of torch takes: without a table, with the table of
torch-c-dlpack-ext, and with ours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.demo.result import Result
from tools.screen import busy
from tools.settings import ToolError
from tools.testing.environments import Environment

_WORKER = Path(__file__).with_name("cost_worker.py")
_ROUNDS = 15
NONE, PEER, OURS = "no table", "torch-c-dlpack-ext", "dlx-torch-ext"
_CALLS = ("nop(x, y, z)", "echo(x)")


def show(console: Console, ways: dict[str, Environment]) -> Iterator[Result]:
    """Measure each of the three ways (NONE, PEER, OURS) in its own process.

    The processes take turns, so that other load on the machine slows down all of them alike.
    """
    with busy("Measuring the time of a call"):
        workers = {name: _start(environment, table=name != NONE) for name, environment in ways.items()}
        best: dict[str, list[float]] = {name: [float("inf")] * len(_CALLS) for name in ways}
        for _ in range(_ROUNDS):
            for name, worker in workers.items():
                best[name] = [min(pair) for pair in zip(best[name], _measure(name, worker))]
        for worker in workers.values():
            worker.communicate()
    ours = best[OURS]
    table = Table()
    table.add_column("")
    for call in _CALLS:
        table.add_column(call, justify="right")
        table.add_column("ratio", justify="right")
    for name, times in best.items():
        cells = [cell for ns, peer in zip(times, best[PEER]) for cell in (f"{ns:.0f} ns", f"{ns / peer:.2f}")]
        table.add_row(name, *cells)
    console.print(f"\n[bold]The time of a call through tvm-ffi[/], and its ratio to {PEER}", soft_wrap=True)
    console.print(table)
    for name in ways:
        for call, ns, our in zip(_CALLS, best[name], ours):
            if name != OURS:
                yield Result(f"{call} takes {our:.0f} ns with {OURS}, and {ns:.0f} ns with {name}", our < ns)


def _start(environment: Environment, *, table: bool) -> subprocess.Popen[str]:
    # Else tvm-ffi compiles or loads an addon of its own where there is no table.
    extra = {} if table else {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    command = [str(environment.python), str(_WORKER), "table" if table else "none"]
    pipe = subprocess.PIPE
    variables = environment.variables(**extra)
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=variables, cwd=environment.folder)


def _measure(name: str, worker: subprocess.Popen[str]) -> list[float]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write("measure\n")
        worker.stdin.flush()
        times: list[float] = json.loads(worker.stdout.readline())
    except (OSError, ValueError):
        status = worker.wait()
        raise ToolError(
            f"the process that measures {name} ended with exit status {status}; its own error is above"
        ) from None
    return times
