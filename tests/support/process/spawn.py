"""Runs a function in a new interpreter: for the import of torch, environment variables, the end of the interpreter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.process.finished import ROOT, TIMEOUT_S, Changes, Finished, change


def call(function: Callable[..., Any], *arguments: object, env: Changes | None = None) -> Any:
    """The result of `function(*arguments)`, after the interpreter has ended with exit status 0."""
    return run(function, *arguments, env=env).value


def run(function: Callable[..., Any], *arguments: object, env: Changes | None = None) -> Finished:
    """Calls `function(*arguments)` and waits for the end of the interpreter, whatever that is.

    The new interpreter imports the function by its name, so it has to be at the top of its module.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        function_name = f"{function.__module__}:{function.__qualname__}"
        finished = python("-m", "tests.support.process.child", function_name, json.dumps(arguments), answer, env=env)
        return replace(finished, answer=answer.read_text(encoding="utf-8") if answer.exists() else "")


def python(*arguments: str | Path, env: Changes | None = None) -> Finished:
    """Runs this interpreter with these arguments from the repository's root."""
    environment = dict(os.environ)
    change(environment, env)
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(getattr(signal, "SIGALRM", signal.SIGTERM))  # SIGALRM is what ends a fork that hangs
        stdout, stderr = process.communicate()
    return Finished(process.returncode, stdout, stderr)


def code(text: str, env: Changes | None = None, options: tuple[str, ...] = ()) -> Finished:
    """For the programs that are still strings: the last line of their stdout is the answer."""
    finished = python(*options, "-c", textwrap.dedent(text), env=env)
    return replace(finished, answer=(finished.stdout.strip().splitlines() or [""])[-1])
