"""A folder of tests whose last one is isolated; the tests of another folder come after it."""

from __future__ import annotations

import pytest


def test_in_the_process() -> None:
    pass


@pytest.mark.isolated
def test_in_a_fork() -> None:
    pass
