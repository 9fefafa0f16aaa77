"""Build the wheel once and run the test sessions with it: ./dev test."""

from __future__ import annotations

import argparse
import functools
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools import matrix
from tools.build import wheel
from tools.settings import ToolError, machine
from tools.testing import plan, run
from tools.testing.run import Outcome, Session


def main(options: argparse.Namespace) -> int:
    chosen = _choose(options)
    console = Console()
    if not console.is_terminal:
        console.width = 140  # of nobody's window: the tables keep their lines whole
    with tempfile.TemporaryDirectory() as own:  # another ./dev test must not replace the wheel under test by its own
        outcomes = _run(console, chosen, _wheel(options, chosen, Path(own)), options)
    _report(console, outcomes)
    good = all(outcome.good for outcome in outcomes)
    # The last line is for programs that read it: sessions that could not run count as failed.
    broken = sum(1 for outcome in outcomes if not outcome.good and not outcome.failed)
    print(f"{sum(o.passed for o in outcomes)} passed, {sum(o.failed for o in outcomes) + broken} failed")
    return 0 if good else 1


def _run(console: Console, chosen: list[Session], built: Path, options: argparse.Namespace) -> list[Outcome]:
    """Run the sessions, several at a time, and print what each said when it is over."""
    with ThreadPoolExecutor(options.jobs) as pool:
        execute = functools.partial(run.execute, wheel=built, arguments=options.rest, capture=len(chosen) > 1)
        futures = [pool.submit(execute, one) for one in chosen]
        for future in as_completed(futures):
            outcome = future.result()
            console.rule(f"{outcome.session.name}, {outcome.seconds:.0f} s")
            print(outcome.output or outcome.problem, flush=True)
    return [future.result() for future in futures]


def _choose(options: argparse.Namespace) -> list[Session]:
    if options.python and not options.torch:
        raise ToolError("--python goes with --torch: name the release, such as --torch 2.9.1 --python 3.12")
    if options.sanitize:
        return [plan.SANITIZED]
    if options.arch not in (None, machine()):
        return plan.emulated(options.arch)
    if options.torch:
        return [one for torch in options.torch for one in plan.integration(torch, options.python)]
    middle = plan.STANDARD
    if options.all:
        middle = [*plan.every_row(), *plan.MORE_NPU]
    seen = {(one.torch, one.python) for one in middle}
    pythons = [one for one in plan.PYTHONS if (one.torch, one.python) not in seen]
    return [*plan.UNIT, *plan.TOOLS, *middle, *plan.NPU, *plan.NEIGHBOURS, *pythons]


def _wheel(options: argparse.Namespace, chosen: list[Session], out: Path) -> Path:
    if options.wheel:
        path: Path = options.wheel
        if not path.is_file():
            raise ToolError(f"--wheel {path}: no such file")
        return path.resolve()
    lines = {one.torch.rpartition(".")[0] for one in chosen if one.torch}
    return wheel.build(matrix.read().of_lines(lines), out, arch=options.arch, sanitize=options.sanitize)


def _report(console: Console, outcomes: list[Outcome]) -> None:
    table = Table(title="./dev test")
    for column in ("session", "passed", "failed", "skipped", "time", ""):
        left = column in ("session", "")
        table.add_column(column, justify="left" if left else "right", no_wrap=column == "session")
    for outcome in outcomes:
        verdict = "[green]ok[/]" if outcome.good else "[red]failed[/]"
        if outcome.absent:
            verdict = "[yellow]not available here[/]"
        counts = (str(count) for count in (outcome.passed, outcome.failed, outcome.skipped))
        table.add_row(outcome.session.name, *counts, f"{outcome.seconds:.0f} s", verdict)
    console.print(table)
    if loaded := [one for outcome in outcomes for one in outcome.loaded]:
        console.print(_loaded(loaded))
    for outcome in outcomes:
        nothing = "" if outcome.passed or outcome.failed else "no test ran"
        if words := outcome.problem or nothing:
            console.print(f"{outcome.session.name}: {words}", markup=False, soft_wrap=True)


def _loaded(seen: list[dict[str, str]]) -> Table:
    """What each CPython, torch and backend got, as tests/integration/test_loaded.py saw it; several sessions may see
    the same."""
    table = Table(title="what was loaded")
    for column in ("processor", "CPython", "torch", "backend", "asked for", "loaded", "self-test"):
        table.add_column(column, overflow="fold", no_wrap=column == "loaded")
    keys = ("machine", "python", "torch", "build", "asked", "loaded", "self-test")
    for cells in sorted({tuple(one[key] for key in keys) for one in seen}, key=_by_version):
        table.add_row(*cells)
    return table


def _by_version(cells: tuple[str, ...]) -> list[tuple[int, ...] | str]:
    """Rows in the order of releases: 2.9 before 2.10."""
    return [tuple(map(int, re.findall(r"\d+", cell)[:3])) for cell in cells[1:3]] + [*cells]
