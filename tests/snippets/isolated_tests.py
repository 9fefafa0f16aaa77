"""Tests for a pytest of their own: two run in a fork, and one of them crashes."""

from __future__ import annotations

import os

import pytest

changed: list[str] = []


@pytest.mark.isolated
def test_passes() -> None:
    changed.append("in the fork")


@pytest.mark.isolated
def test_crashes() -> None:
    os.abort()


def test_is_not_disturbed() -> None:
    assert changed == []
