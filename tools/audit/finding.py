"""What a check has to say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or a `note` about something that is not. `where` is a file of the wheel, "" for the
    wheel itself; `check` is the name of the function that found it, filled in by whoever ran it."""

    where: str
    text: str
    note: bool = False
    check: str = ""
