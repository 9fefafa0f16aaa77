"""Checks that are commands, run side by side: what ./dev lint is made of."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tools.settings import ROOT


@dataclass(frozen=True)
class Check:
    """A check of some commands, each of which may run beside any other. `passed` is called when all of them ended
    well, `shorten` with what was printed by those that did not. `problem`: why it cannot run at all."""

    name: str
    commands: list[list[str]]
    passed: Callable[[], None] = lambda: None
    shorten: Callable[[str], str] = str
    problem: str = ""


def run_all(checks: Sequence[Check], first: str = "") -> list[str]:
    """Run all commands, as many at a time as there are processors, and say of each check in turn how it ended; returns
    the names of those that failed. `first`: the check with the longest command."""
    failed = []
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        runs: dict[str, list[Future[tuple[bool, str]]]] = {}
        for check in sorted(checks, key=lambda check: check.name != first):
            runs[check.name] = [pool.submit(_run, command) for command in check.commands]
        for check in checks:
            output = [text for ok, text in (it.result() for it in runs[check.name]) if not ok]
            if output or check.problem:
                failed.append(check.name)
                said = check.shorten("".join(output)) if output else check.problem
                print(f"-- {check.name}: failed\n{said.rstrip()}", flush=True)
            else:
                check.passed()
                print(f"-- {check.name}", flush=True)
    return failed


def _run(command: list[str]) -> tuple[bool, str]:
    """Whether a command ended well, and everything that it printed."""
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    return done.returncode == 0, done.stdout
