"""What is known of a process that has ended, and what `spawn` and `fork` share: the timeout and the environment."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parents[3]

# No test measures it: it only keeps a process that hangs from stopping the whole session.
TIMEOUT_S = 600

Changes = Mapping[str, Optional[str]]  # of environment variables; None removes one


def change(environment: MutableMapping[str, str], changes: Changes | None) -> None:
    for name, value in (changes or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value


@dataclass(frozen=True)
class Finished:
    """A process that has ended. `status` is the exit status, or -N if signal N ended the process."""

    status: int
    stdout: str = ""
    stderr: str = ""
    answer: str = ""  # the result of the function as JSON; "" if the function did not return

    @property
    def ending(self) -> str:
        """How the process ended, in words: "exit status 3" or "SIGSEGV"."""
        if self.status >= 0:
            return f"exit status {self.status}"
        name = signal.Signals(-self.status).name
        return f"{name}: it ran for more than {TIMEOUT_S} s" if name == "SIGALRM" else name

    def __str__(self) -> str:
        return f"{self.ending}\n{self.stdout}{self.stderr}"

    @property
    def value(self) -> Any:
        """The result of the function. The process must have ended with exit status 0."""
        assert self.status == 0, str(self)
        assert self.answer, f"the function did not return\n{self}"
        return json.loads(self.answer)
