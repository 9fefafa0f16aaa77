"""Runs a snippet in a new interpreter, and reports its result, its exit status or the signal that killed it.

For what a fork cannot show: the import of torch itself, the environment, and the end of the interpreter.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# Not a measure of anything: a child that hangs must not hang the suite.
SECONDS = 120


@dataclass(frozen=True)
class Finished:
    """A child that has ended. `stdout` and `stderr` are its own, whole."""

    status: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        how = f"exit status {self.status}" if self.status >= 0 else signal.Signals(-self.status).name
        return f"{how}\n{self.stdout}{self.stderr}"

    @property
    def value(self) -> Any:
        """The last line of stdout, read as JSON, of a child that ended well."""
        assert self.status == 0, str(self)
        assert self.stdout.strip(), f"the child printed nothing\n{self.stderr}"
        return json.loads(self.stdout.strip().splitlines()[-1])


def run(code: str, env: Mapping[str, str | None] | None = None, options: tuple[str, ...] = ()) -> Finished:
    """Runs `code` (dedented) from the repository's root; a value of None in `env` removes a variable."""
    environment = dict(os.environ)
    for name, value in (env or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        stdout, stderr = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        stderr += f"\nhung: killed after {SECONDS} s"
    return Finished(process.returncode, stdout, stderr)
