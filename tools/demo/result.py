"""The result of one check of the demo."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Whether one thing is as expected. If not `passed`, the demo's last line contains `problem`."""

    problem: str
    passed: bool
