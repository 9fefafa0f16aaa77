"""Ways for a process to return a result and to end, for the tests of tests/support/process."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def add(first: int, second: int) -> list[int]:
    """The process and the sum."""
    return [os.getpid(), first + second]


def variables(names: list[str]) -> list[str | None]:
    return [os.environ.get(name) for name in names]


def fail(text: str) -> NoReturn:
    raise LookupError(text)


def leave(status: int) -> NoReturn:
    os._exit(status)


def end_with_signal(name: str) -> None:
    os.kill(os.getpid(), getattr(signal, name))


def imported_modules() -> list[str]:
    return sorted(sys.modules)
