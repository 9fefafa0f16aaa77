"""What a person sees on the terminal while a long step runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from rich.console import Console

_console = Console(stderr=True, highlight=False)
_spinner_lock = threading.Lock()  # rich can show one spinner at a time


@contextlib.contextmanager
def busy(text: str) -> Iterator[None]:
    """Show `text` while the block runs: with a spinner on a terminal, else as one line at the start."""
    if _console.is_terminal and _spinner_lock.acquire(blocking=False):
        try:
            with _console.status(text):
                yield
        finally:
            _spinner_lock.release()
    else:
        print(f"{text} ...", file=_console.file, flush=True)
        yield
