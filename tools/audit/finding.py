"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A problem of the wheel or, if `note`, a remark about something that is allowed. `where` is a file of the wheel,
    or "" for the whole wheel. `check` is the name of the check; audit() fills it in."""

    where: str
    text: str
    note: bool = False
    check: str = ""
