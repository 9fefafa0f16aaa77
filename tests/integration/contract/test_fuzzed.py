"""Inputs that nobody wrote, made of random bytes from a fixed seed; `./dev fuzz` looks for more with libFuzzer.

The target calls four of the five functions and checks each answer against rules of its own (tests/fuzz/rules.h).
Export, whose input is a tensor of Python, is in test_export_of_views.py.
"""

from __future__ import annotations

import pytest

from tests.fuzz import harness

pytestmark = pytest.mark.isolated

RUNS = 4_000


@pytest.mark.parametrize("seed", range(3))
def test_each_answer_is_what_the_rules_allow(seed: int) -> None:
    target = harness.started_target()
    target.fuzz_random(seed, RUNS)
    for name, (calls, accepted) in harness.counts(target).items():
        assert calls > accepted > RUNS / 10, f"{name}: {accepted} of {calls} calls were accepted"
