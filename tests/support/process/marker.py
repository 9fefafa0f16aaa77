"""A pytest plugin: each test with the marker `isolated` runs in a fork, so that a crash fails this test only.

Without fork (on Windows), and with `--inline` (for a debugger), these tests run in pytest's own process.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.support.process import fork


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--inline", action="store_true", help="run isolated tests in pytest's own process")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "isolated: run the test in a fork of pytest's process")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if item.get_closest_marker("isolated") is None or item.config.option.inline or not hasattr(os, "fork"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # The test before this one left what this one's module and folder need. Only the fork has torn that down.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _reports(item: pytest.Item) -> list[Any]:
    """What pytest reports of setup, call and teardown, which all run in the fork."""
    write = item.config.hook.pytest_report_to_serializable

    def work() -> str:
        reports = runtestprotocol(item, log=False, nextitem=None)
        return json.dumps([write(config=item.config, report=report) for report in reports], default=str)

    finished = fork.run(work)
    if finished.status != 0:
        text = f"the process of this test died: {finished}"
        return [pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call", [], 0, 0, 0)]
    read = item.config.hook.pytest_report_from_serializable
    return [read(config=item.config, data=data) for data in json.loads(finished.answer)]
