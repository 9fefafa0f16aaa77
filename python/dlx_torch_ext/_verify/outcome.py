"""How a check ends that does not pass."""

from __future__ import annotations


class Failed(Exception):
    """What is wrong, in one line."""


class LeftOut(Exception):
    """Why there is nothing to check here."""


def expect(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Failed(f"{what}: {found}, expected {expected}")
