"""Tests for a pytest of their own: most of them are left out, and would fail."""

from __future__ import annotations

import pytest

from tests.support.left_out import cases, left_out_if


@left_out_if(True, "there is no moon")
@pytest.mark.parametrize("phase", [1, 2])
def test_of_the_moon(phase: int) -> None:
    raise AssertionError(phase)


@left_out_if(False, "there is no rain")
def test_of_the_rain() -> None:
    pass


@pytest.mark.parametrize("name", cases(["red", "blue"], {"blue": (True, "blue is missing")}))
def test_of_colours(name: str) -> None:
    assert name == "red"
