"""Tests that are left out: the session prints the reason, and pytest's report has their number."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.process import spawn

FILES = ["tests/snippets/left_out_module.py", "tests/snippets/left_out_tests.py"]


@pytest.fixture
def session(tmp_path: Path) -> tuple[str, int]:
    """What pytest prints, and the number in its report."""
    report = tmp_path / "report.xml"
    finished = spawn.python("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", *FILES)
    assert finished.status == 0, str(finished)
    properties = {it.get("name"): it.get("value") for it in ElementTree.parse(report).iter("property")}
    return finished.stdout, int(properties["left out"] or "")


def test_each_reason_is_printed_with_its_tests(session: tuple[str, int]) -> None:
    lines = session[0].splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip("= ") == "left out")
    assert lines[start + 1 : -1] == [
        "there is no sea:",
        "  tests/snippets/left_out_module.py (2 tests)",
        "there is no moon:",
        "  tests/snippets/left_out_tests.py::test_of_the_moon (2 tests)",
        "blue is missing:",
        "  tests/snippets/left_out_tests.py::test_of_colours",
    ]


def test_they_are_counted_and_the_others_run(session: tuple[str, int]) -> None:
    printed, count = session
    assert count == 5
    assert "2 passed, 5 deselected" in printed
