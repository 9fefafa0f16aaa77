"""The score of a sample: the share of the counted mutants that were killed, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tools.mutate.mutant import COUNTED, KILLED, Result

_Z = 1.959964  # of a normal distribution: 95 % lie within


@dataclass(frozen=True)
class Score:
    """`killed` of `counted` mutants."""

    killed: int
    counted: int

    @property
    def share(self) -> float:
        return self.killed / self.counted if self.counted else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval for the share among all mutants, of which these are a random sample."""
        if not self.counted:
            return 0.0, 1.0
        n, share = self.counted, self.share
        middle = share + _Z * _Z / (2 * n)
        reach = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
        scale = 1 + _Z * _Z / n
        return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.share:.1f} % ({100 * low:.1f}-{100 * high:.1f})"


def score(results: Iterable[Result]) -> Score:
    """The score of results; those that are not counted are left out."""
    verdicts = [one.verdict for one in results if one.verdict in COUNTED]
    return Score(verdicts.count(KILLED), len(verdicts))
