"""What a part of the demo claims, and whether it held."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One claim, in the words that the closing line uses when it did not hold."""

    claim: str
    held: bool
