"""A pytest plugin: tests marked `isolated` run in a forked process each, so that a crash is the failure of one test.

A fork costs milliseconds where a new interpreter with torch costs seconds. The parent must therefore never
initialise an accelerator. Where there is no fork (Windows), and with `--inline` (for a debugger), the tests run in
pytest's process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from typing import Any

import pytest
from _pytest.runner import runtestprotocol


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--inline", action="store_true", help="run isolated tests in pytest's own process")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "isolated: run the test in a forked process of its own")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    if item.get_closest_marker("isolated") is None or item.config.option.inline or not hasattr(os, "fork"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports(item: pytest.Item) -> list[Any]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads (OpenBLAS has some); none of them holds a lock while tests are being started.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reader)
        _run(item, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(child, 0)
    if status != 0 or not answer:
        return [_crashed(item, status)]
    read = item.config.hook.pytest_report_from_serializable
    return [read(config=item.config, data=data) for data in json.loads(answer)]


def _run(item: pytest.Item, writer: int) -> None:
    """In the child: the whole protocol, teardown included. It never returns."""
    code = 1
    try:
        write = item.config.hook.pytest_report_to_serializable
        reports = runtestprotocol(item, log=False, nextitem=None)
        data = json.dumps([write(config=item.config, report=report) for report in reports], default=str)
        with os.fdopen(writer, "wb") as stream:
            stream.write(data.encode())
        code = 0
    finally:
        os._exit(code)


def _crashed(item: pytest.Item, status: int) -> pytest.TestReport:
    how = f"exit status {os.WEXITSTATUS(status)}"
    if os.WIFSIGNALED(status):
        how = signal.Signals(os.WTERMSIG(status)).name
    return pytest.TestReport(
        item.nodeid, item.location, {}, "failed", f"the process of this test died: {how}", "call", [], 0, 0, 0
    )
