"""Tests that are left out: the session prints the reason, and pytest's report has their number."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.process.finished import ROOT

MODULE = """
import pytest
from tests.support.left_out import cases, left_out_if

@left_out_if(True, "there is no moon")
@pytest.mark.parametrize("n", [1, 2])
def test_of_the_moon(n):
    raise AssertionError

@left_out_if(False, "there is no rain")
def test_of_the_rain():
    pass

@pytest.mark.parametrize("name", cases(["red", "blue"], {"blue": (True, "blue is missing")}))
def test_of_the_sun(name):
    assert name == "red"
"""
WHOLE_MODULE = """
from tests.support.left_out import left_out_if
pytestmark = left_out_if(True, "there is no sea")

@left_out_if(True, "there is no fish")
def test_one():
    raise AssertionError

def test_two():
    raise AssertionError
"""


@pytest.fixture
def session(tmp_path: Path) -> tuple[str, int]:
    """What pytest prints, and the number in its report."""
    (tmp_path / "test_sky.py").write_text(MODULE)
    (tmp_path / "test_sea.py").write_text(WHOLE_MODULE)
    plugin = ["-p", "tests.support.left_out", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", *plugin, f"--junit-xml={report}", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    properties = {it.get("name"): it.get("value") for it in ElementTree.parse(report).iter("property")}
    return done.stdout, int(properties["left out"] or "")


def test_each_reason_is_printed_with_its_tests(session: tuple[str, int]) -> None:
    lines = session[0].splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip("= ") == "left out")
    assert lines[start + 1 : -1] == [
        "there is no sea:",
        "  test_sea.py (2 tests)",
        "there is no moon:",
        "  test_sky.py::test_of_the_moon (2 tests)",
        "blue is missing:",
        "  test_sky.py::test_of_the_sun",
    ]


def test_they_are_counted_and_the_others_run(session: tuple[str, int]) -> None:
    printed, count = session
    assert count == 5
    assert "2 passed, 5 deselected" in printed
