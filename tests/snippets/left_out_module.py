"""Tests for a pytest of their own: the whole module is left out, and one test for another reason as well."""

from __future__ import annotations

from tests.support.left_out import left_out_if

pytestmark = left_out_if(True, "there is no sea")


@left_out_if(True, "there is no fish")
def test_one() -> None:
    raise AssertionError


def test_two() -> None:
    raise AssertionError
