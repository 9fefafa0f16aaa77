"""Look for inputs that break the five functions, and show what was run: ./dev fuzz."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.build import one_row
from tools.fuzz import build, clang, coverage, guided
from tools.fuzz.coverage import EXPORT_TEST
from tools.screen import busy
from tools.settings import ROOT, dev_dir, run
from tools.testing import environments
from tools.testing.environments import Environment
from tools.testing.plan import TVM_FFI
from tools.testing.run import THIS_PYTHON

_EXAMPLES_A_MINUTE = 1500


def main(options: argparse.Namespace) -> int:
    console = Console()
    compiler, room = clang.find(), guided.Room(dev_dir() / "fuzz")
    environment = environments.get_or_create(
        environments.python_for(one_row.TORCH, THIS_PYTHON), one_row.TORCH, TVM_FFI
    )
    # A CUDA build of torch runs on the simulated CUDA; on some processors torch has no CUDA build.
    backend = "cuda" if environment.simulated or environments.real_devices() else "cpu"
    with busy("Building for libFuzzer"):
        library = build.fuzzed_library(compiler, backend)
    with busy(f"libFuzzer for {options.minutes:g} min, once torch has started"):
        seconds = max(1, round(60 * options.minutes))
        result = guided.run(compiler, environment, library, room, seconds=seconds, jobs=options.jobs, seed=options.seed)
    _show_calls(console, result, room)
    if result.findings or result.problem:
        _show_findings(result)
        return 1
    with busy("Building for coverage"):
        covered = build.covered_library(compiler, backend)
    print(_export(environment, covered, round(_EXAMPLES_A_MINUTE * options.minutes), options.seed), end="")
    with busy("Measuring coverage"):
        files = coverage.measure(compiler, environment, covered, room.corpus, room.folder / "coverage")
    _show_coverage(console, files)
    return 0


def _export(environment: Environment, library: Path, examples: int, seed: int) -> str:
    """What the test of export says; ToolError with all of pytest's output where it fails."""
    variables = environment.variables(
        PYTHONPATH=str(ROOT / "python"),
        DLX_TORCH_LIBRARY=str(library),
        LLVM_PROFILE_FILE=os.devnull,  # coverage is measured later
        DLX_TEST_EXAMPLES=str(max(1, examples)),
    )
    # In one process, since a fork has a time limit.
    command = [str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--inline", EXPORT_TEST]
    with busy(f"hypothesis: {examples} tensors to export"):
        output = run([*command, f"--hypothesis-seed={seed}"], what="the test of export", env=variables, cwd=ROOT)
    return f"{examples} tensors to export in each test: {output.splitlines()[-1]}\n"


def _show_calls(console: Console, result: guided.Result, room: guided.Room) -> None:
    table = Table(title="./dev fuzz")
    table.add_column("function")
    for column in ("calls", "accepted", "calls/s"):
        table.add_column(column, justify="right")
    total = [sum(numbers) for numbers in zip(*result.counts.values())]
    for name, (calls, accepted) in [*result.counts.items(), ("all", (total[0], total[1]))]:
        table.add_row(name, f"{calls:,}", f"{accepted:,}", f"{calls / max(result.seconds, 1):,.0f}")
    console.print(table)
    kept = len(list(room.corpus.iterdir()))
    rate = result.inputs / max(result.seconds, 1)
    print(f"{result.inputs:,} inputs, {rate:,.0f} inputs/s; {kept} kept in {room.corpus}")
    print(f"{len(result.findings)} findings")


def _show_findings(result: guided.Result) -> None:
    for file, said in result.findings:
        print(f"{file}: {said}")
    if result.problem:
        print(result.problem)


def _show_coverage(console: Console, files: list[coverage.File]) -> None:
    table = Table(title="coverage of cpp/src")
    table.add_column("file")
    for column in ("lines", "of", "%", "branches", "of", "%"):
        table.add_column(column, justify="right")
    every = coverage.File("all", _sum(file.lines for file in files), _sum(file.branches for file in files))
    for file in [*files, every]:
        table.add_row(file.name, *_share(file.lines), *_share(file.branches))
    console.print(table)


def _sum(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    covered, count = zip(*pairs)
    return sum(covered), sum(count)


def _share(covered_and_all: tuple[int, int]) -> list[str]:
    covered, count = covered_and_all
    return [str(covered), str(count), f"{100 * covered / count:.0f}" if count else ""]
