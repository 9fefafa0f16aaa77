"""A pytest plugin: a test that makes no sense on the torch of a session is left out, and the session prints the reason.

This is not a skip, which is for a test that would run if something else was installed; `./dev test` has no skips. A
test is left out if its subject does not exist here: "torch 2.9 has no table of its own", "torch is not built for CUDA".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.junitxml import xml_key


def left_out_if(condition: object, reason: str) -> pytest.MarkDecorator:
    """Leaves the test, the module (as `pytestmark`) or the case (as `marks` of `pytest.param`) out if `condition`."""
    return pytest.mark.left_out_if(bool(condition), reason)


def cases(names: Iterable[str], left_out: Mapping[str, tuple[object, str]]) -> list[Any]:
    """The names as cases for `pytest.mark.parametrize`; `left_out` has the condition and the reason of some of them."""
    return [pytest.param(name, marks=left_out_if(*left_out.get(name, (False, "")))) for name in names]


@dataclass(frozen=True)
class LeftOut:
    """A test that is left out. `function` is its name without the parameters."""

    file: str
    function: str
    reason: str


_LEFT_OUT = pytest.StashKey[list[LeftOut]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "left_out_if(condition, reason): see tests/support/left_out.py")


@pytest.hookimpl(trylast=True)  # after -k and -m, so that only what the session was asked for is reported
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {item: reason for item in items if (reason := _reason(item))}
    items[:] = [item for item in items if item not in reasons]
    config.stash[_LEFT_OUT] = [_left_out(item.nodeid, reason) for item, reason in reasons.items()]
    if reasons:
        config.hook.pytest_deselected(items=list(reasons))


def _reason(item: pytest.Item) -> str:
    """That of the module before that of the function: it says more."""
    marks = reversed([mark.args for mark in item.iter_markers("left_out_if")])
    return next((reason for condition, reason in marks if condition), "")


def _left_out(test: str, reason: str) -> LeftOut:
    file, _, function = test.partition("::")
    return LeftOut(file, function.partition("[")[0], reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = config.stash.get(_LEFT_OUT, [])
    if left_out:
        terminalreporter.section("left out")
        for line in _lines(left_out):
            terminalreporter.write_line(line)


def _lines(left_out: list[LeftOut]) -> Iterator[str]:
    """Each reason, and below it how many tests of which file, or which test if it is only one function."""
    for reason in dict.fromkeys(one.reason for one in left_out):
        yield f"{reason}:"
        for file in dict.fromkeys(one.file for one in left_out if one.reason == reason):
            functions = [one.function for one in left_out if (one.file, one.reason) == (file, reason)]
            where = file if len(set(functions)) > 1 else f"{file}::{functions[0]}"
            yield f"  {where}" + (f" ({len(functions)} tests)" if len(functions) > 1 else "")


@pytest.hookimpl(tryfirst=True)  # before the report is written
def pytest_sessionfinish(session: pytest.Session) -> None:
    xml = session.config.stash.get(xml_key, None)
    if xml is not None:
        xml.add_global_property("left out", str(len(session.config.stash.get(_LEFT_OUT, []))))
