"""Run commands side by side as checks, and report each; ./dev lint consists of such checks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tools.settings import ROOT


@dataclass(frozen=True)
class Check:
    """A check that runs commands; all commands of all checks may run at the same time. `passed` is called if every
    command succeeded. `shorten` gets the output of those that failed and returns what is shown. `problem`: why the
    check cannot run."""

    name: str
    commands: list[list[str]]
    passed: Callable[[], None] = lambda: None
    shorten: Callable[[str], str] = str
    problem: str = ""


def run_all(checks: Sequence[Check], first: str = "") -> list[str]:
    """Run all commands, as many at a time as there are processors. Print the result of each check, in their order, and
    return the names of those that failed. `first`: the check that has the longest command; it starts first."""
    failed = []
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        runs: dict[str, list[Future[tuple[bool, str]]]] = {}
        for check in sorted(checks, key=lambda check: check.name != first):
            runs[check.name] = [pool.submit(_run, command) for command in check.commands]
        for check in checks:
            output = [text for ok, text in (run.result() for run in runs[check.name]) if not ok]
            if output or check.problem:
                failed.append(check.name)
                problem = check.shorten("".join(output)) if output else check.problem
                print(f"-- {check.name}: failed\n{problem.rstrip()}", flush=True)
            else:
                check.passed()
                print(f"-- {check.name}", flush=True)
    return failed


def _run(command: list[str]) -> tuple[bool, str]:
    """Whether a command succeeded, and everything that it printed."""
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    return done.returncode == 0, done.stdout
