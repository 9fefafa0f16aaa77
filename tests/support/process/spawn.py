"""Runs a function in a new interpreter: for the import of torch, environment variables, the end of the interpreter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
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
        finished = python(*_words(function, arguments, answer), env=env)
        return replace(finished, answer=answer.read_text(encoding="utf-8") if answer.exists() else "")


def start(function: Callable[..., Any], *arguments: object) -> subprocess.Popen[str]:
    """Calls `function(*arguments)` and does not wait. stdin, stdout and stderr are pipes."""
    return _start(_words(function, arguments, os.devnull), None, stdin=subprocess.PIPE)


def python(*words: str | Path, env: Changes | None = None) -> Finished:
    """Runs this interpreter with these arguments from the repository's root."""
    process = _start(words, env)
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(getattr(signal, "SIGALRM", signal.SIGTERM))  # SIGALRM is what ends a fork that hangs
        stdout, stderr = process.communicate()
    return Finished(process.returncode, stdout, stderr)


def _words(function: Callable[..., Any], arguments: tuple[object, ...], answer: str | Path) -> list[str | Path]:
    """The arguments with which an interpreter calls the function."""
    name = f"{function.__module__}:{function.__qualname__}"
    return ["-m", "tests.support.process.child", name, json.dumps(arguments), answer]


def _start(words: Iterable[str | Path], env: Changes | None, stdin: int | None = None) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    change(environment, env)
    command, pipe = [sys.executable, *map(str, words)], subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=stdin, stdout=pipe, stderr=pipe, text=True)
