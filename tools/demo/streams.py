"""Compare the current stream that a C++ function, called through tvm-ffi, sees with the one that torch reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from rich.console import Console
from rich.table import Table

from tools.demo.result import Result
from tools.screen import busy
from tools.settings import ToolError, dev_dir
from tools.testing import environments
from tools.testing.environments import Environment


class Answer(TypedDict):
    """The current stream at one point of the program, by torch and by C++, as addresses."""

    device: str
    where: str
    torch: int
    seen: int


_WORKER = Path(__file__).with_name("streams_worker.py")


def show(console: Console, ours: Environment) -> Iterator[Result]:
    """Compare on each of two devices, each in its own process. The devices are simulated if this machine has no GPU."""
    real = environments.real_devices()
    kind = "real devices" if real else "simulated devices: no GPU is on this machine"
    table = Table()
    for column in ("device", "", "torch's own", "seen in C++", ""):
        table.add_column(column)
    rows: list[Answer] = []
    with busy("Compiling a C++ function and calling it"):
        for device in range(min(real, 2) or 2):
            rows += _run_worker(ours, device)
    for row in rows:
        equal = row["torch"] == row["seen"]
        table.add_row(row["device"], row["where"], hex(row["torch"]), hex(row["seen"]), "same" if equal else "DIFFERS")
        seen, expected = hex(row["seen"]), hex(row["torch"])
        problem = f"{row['where']} the block on {row['device']}, C++ sees the stream {seen}, torch has {expected}"
        yield Result(problem, equal)
    console.print(f"\n[bold]The current stream[/] ({kind})", soft_wrap=True)
    console.print(table)
    for outside, inside in zip(rows[::2], rows[1::2]):
        different = outside["torch"] != inside["torch"] and inside["torch"] != 0
        yield Result(f"torch has the same stream inside and outside the block on {inside['device']}", different)


def _run_worker(ours: Environment, device: int) -> list[Answer]:
    variables = ours.variables(TVM_FFI_CACHE_DIR=str(dev_dir() / "tvm-ffi"))
    variables["PATH"] += os.pathsep + str(Path(sys.executable).parent)  # ninja, which tvm-ffi compiles with
    command = [str(ours.python), str(_WORKER), str(device)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=ours.folder)
    if done.returncode != 0:
        output = f"{done.stdout}{done.stderr}".rstrip()
        raise ToolError(f"{_WORKER.name} failed on device {device}; its output:\n{output}")
    answers: list[Answer] = json.loads(done.stdout.splitlines()[-1])
    return answers
