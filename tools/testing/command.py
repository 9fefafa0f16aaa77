"""Build the wheel once and run the test sessions with it: ./dev test."""

from __future__ import annotations

import argparse
import functools
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tools import matrix
from tools.build import wheel
from tools.settings import ToolError, machine
from tools.testing import plan, run, tvm_ffi
from tools.testing.run import Outcome, Session


def main(options: argparse.Namespace) -> int:
    chosen = _choose(options)
    console = Console()
    if not console.is_terminal:
        console.width = 140  # no window limits it, so the lines of the tables are not cut
    # The wheel is in a new folder, so that another ./dev test does not replace it.
    with tempfile.TemporaryDirectory() as folder:
        outcomes = _run(console, chosen, _wheel(options, chosen, Path(folder)), options)
    _report(console, outcomes, options.command)
    digests = {entry["sha256"] for outcome in outcomes for entry in outcome.binaries}
    if len(digests) > 1:
        print(f"the example in C was built {len(digests)} times; one binary for all sessions is needed")
    good = all(outcome.good for outcome in outcomes) and len(digests) < 2
    # Programs read this last line. A session that could not run counts as one failed test.
    broken = sum(1 for outcome in outcomes if not outcome.good and not outcome.failed)
    print(f"{sum(o.passed for o in outcomes)} passed, {sum(o.failed for o in outcomes) + broken} failed")
    return 0 if good else 1


def _run(console: Console, chosen: list[Session], wheel_path: Path, options: argparse.Namespace) -> list[Outcome]:
    """Run the sessions, several at a time, and print the output of each when it ends."""
    with ThreadPoolExecutor(options.jobs) as pool:
        execute = functools.partial(run.execute, wheel=wheel_path, arguments=options.rest, capture=len(chosen) > 1)
        futures = [pool.submit(execute, session) for session in chosen]
        for future in as_completed(futures):
            outcome = future.result()
            console.rule(f"{outcome.session.name}, {outcome.seconds:.0f} s")
            print(outcome.output or outcome.problem, flush=True)
    return [future.result() for future in futures]


def _choose(options: argparse.Namespace) -> list[Session]:
    if options.python and not options.torch:
        raise ToolError("--python needs --torch: give the release too, such as --torch 2.9.1 --python 3.12")
    if options.command == "faults":
        return plan.FAULTS
    if options.tvm_ffi or options.tvm_ffi_source:
        return [tvm_ffi.session(options.tvm_ffi_source)]
    if options.sanitize:
        return [plan.SANITIZED[options.sanitize]]
    if options.arch not in (None, machine()):
        return plan.emulated(options.arch)
    if options.torch:
        return [session for torch in options.torch for session in plan.integration(torch, options.python)]
    if not options.only:
        return _whole(options.all)
    if named := [session for session in _whole(True) if options.only in session.name]:
        return named
    raise ToolError(f"--only {options.only}: no session has that in its name; they are in tools/testing/plan.py")


def _whole(everything: bool) -> list[Session]:
    integration, pythons = plan.STANDARD, plan.PYTHONS
    if everything:
        integration = [
            *plan.MORE_UNIT,
            *plan.every_row(),
            *plan.MORE_NPU,
            *plan.PACKED,
            *plan.FREE_THREADED,
            *plan.MORE_EXAMPLES,
        ]
        pairs = {(session.torch, session.python) for session in integration}
        pythons = [one for one in (*pythons, *plan.MORE_PYTHONS) if (one.torch, one.python) not in pairs]
        pythons += [*plan.ONE_BINARY, *plan.PADDLE, *plan.READ]
    return [*plan.UNIT, *plan.TOOLS, *integration, *plan.EXAMPLES, *plan.NPU, *plan.NEIGHBOURS, *pythons]


def _wheel(options: argparse.Namespace, chosen: list[Session], out: Path) -> Path:
    if options.wheel:
        path: Path = options.wheel
        if not path.is_file():
            raise ToolError(f"--wheel {path}: no such file. Build a wheel with ./dev wheel, or leave --wheel out")
        return path.resolve()
    lines = {session.torch.rpartition(".")[0] for session in chosen if session.torch}
    return wheel.build(matrix.read().of_lines(lines), out, arch=options.arch, sanitize=options.sanitize)


def _report(console: Console, outcomes: list[Outcome], command: str) -> None:
    table = Table(title="./dev test")
    for column in ("session", "passed", "failed", "skipped", "left out", "time", ""):
        left = column in ("session", "")
        table.add_column(column, justify="left" if left else "right", no_wrap=column == "session")
    for outcome in outcomes:
        verdict = "[green]ok[/]" if outcome.good else "[red]failed[/]"
        if outcome.no_python:
            verdict = "[yellow]not available here[/]"
        counts = (str(count) for count in (outcome.passed, outcome.failed, outcome.skipped, outcome.left_out))
        table.add_row(outcome.session.name, *counts, f"{outcome.seconds:.0f} s", verdict)
    console.print(table)
    if loaded := [entry for outcome in outcomes for entry in outcome.loaded]:
        console.print(_loaded_table(loaded))
    if binaries := [entry for outcome in outcomes for entry in outcome.binaries]:
        console.print(_binaries_table(binaries))
    if command == "faults":
        console.print(_faults_table([entry for outcome in outcomes for entry in outcome.faults]))
    for outcome in outcomes:
        no_test = "" if outcome.passed or outcome.failed else "no test ran"
        if problem := outcome.problem or no_test:
            console.print(f"{outcome.session.name}: {problem}", markup=False, soft_wrap=True)


def _faults_table(faults: list[dict[str, str]]) -> Table:
    """What was broken on purpose, and what the host saw. Equal lines of several tests are shown once."""
    table = Table(title="what was broken, and what the host saw", show_lines=True)
    for column in ("broken", "seen"):
        table.add_column(column, overflow="fold")
    for broken, seen in dict.fromkeys((entry["broken"], entry["seen"]) for entry in faults):
        table.add_row(escape(broken), escape(seen))
    return table


def _loaded_table(loaded: list[dict[str, str]]) -> Table:
    """The library that was loaded for each CPython, torch and backend, as tests/integration/test_loaded.py reports it.
    Equal rows of several sessions are shown once."""
    table = Table(title="what was loaded")
    for column in ("processor", "CPython", "torch", "backend", "asked for", "loaded", "self-test"):
        table.add_column(column, overflow="fold", no_wrap=column == "loaded")
    keys = ("machine", "python", "torch", "backend", "asked", "loaded", "self-test")
    for cells in sorted({tuple(entry[key] for key in keys) for entry in loaded}, key=_by_version):
        table.add_row(*cells)
    return table


def _binaries_table(binaries: list[dict[str, str]]) -> Table:
    """The example in C that a session built and the others took, and what it was seen on."""
    table = Table(title="one binary, on every torch and CPython")
    for column in ("sha256", "CPython", "torch", "table", "passed"):
        table.add_column(column)
    keys = ("sha256", "python", "torch", "table", "passed")
    for cells in sorted({tuple(entry[key] for key in keys) for entry in binaries}, key=_by_version):
        table.add_row(*cells)
    return table


def _by_version(cells: tuple[str, ...]) -> list[tuple[int, ...] | str]:
    """A sort key that compares versions as numbers: 2.9 comes before 2.10."""
    return [tuple(map(int, re.findall(r"\d+", cell)[:3])) for cell in cells[1:3]] + [*cells]
