"""What was broken, and what the host saw of it: a test reports one line, and ./dev faults makes a table of them.

A test whose line is always the same has the marker `fault(broken, seen)`; the others call `report`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

Record = Callable[[str, object], None]  # pytest's record_property


def report(record: Record, broken: str, seen: str) -> None:
    record("fault", json.dumps({"broken": broken, "seen": seen}))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(broken, seen): a line of the table of ./dev faults")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("fault"):
        report(lambda name, value: item.user_properties.append((name, value)), *mark.args)
