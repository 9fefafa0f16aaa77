"""What the person at the keyboard sees while something takes its time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console

_console = Console(stderr=True, highlight=False)


@contextlib.contextmanager
def busy(text: str) -> Iterator[None]:
    """Show that this is going on while the block runs: a spinner on a terminal, a plain line elsewhere."""
    if _console.is_terminal:
        with _console.status(text):
            yield
    else:
        print(f"{text} ...", file=_console.file, flush=True)
        yield
