"""What the person at the keyboard sees while something takes its time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from rich.console import Console

_console = Console(stderr=True, highlight=False)
_spinner = threading.Lock()  # there can be one


@contextlib.contextmanager
def busy(text: str) -> Iterator[None]:
    """Show that this is going on while the block runs: a spinner on a terminal, or a plain line."""
    if _console.is_terminal and _spinner.acquire(blocking=False):
        try:
            with _console.status(text):
                yield
        finally:
            _spinner.release()
    else:
        print(f"{text} ...", file=_console.file, flush=True)
        yield
