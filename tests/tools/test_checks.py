"""What ./dev lint prints about the commands that it runs."""

from __future__ import annotations

import sys

import pytest

from tools.checks import Check, run_all


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


GOOD = python("print('fine')")
BAD = python("import sys; print('line 7 is too long'); sys.exit('and more')")


def test_the_output_of_checks_that_pass_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    passed: list[str] = []
    checks = [Check("one", [GOOD, GOOD], lambda: passed.append("one")), Check("none", [])]
    assert run_all(checks) == []
    assert passed == ["one"]
    assert capsys.readouterr().out.splitlines() == ["-- one", "-- none"]


def test_a_check_that_fails_is_shown_with_its_output_and_the_others_run(capsys: pytest.CaptureFixture[str]) -> None:
    passed: list[str] = []
    checks = [
        Check("one", [GOOD, BAD], lambda: passed.append("one"), lambda text: text.replace("line", "row")),
        Check("two", [GOOD], lambda: passed.append("two")),
    ]
    assert run_all(checks, first="two") == ["one"]
    assert passed == ["two"]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        ["-- one: failed", "row 7 is too long", "and more", "-- two"]
    )


def test_a_check_that_fails_without_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_all([Check("one", [python("raise SystemExit(3)")])]) == ["one"]
    assert capsys.readouterr().out.splitlines()[0] == "-- one: failed"


def test_a_check_that_cannot_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_all([Check("one", [], problem="no network: connect, then run it again")]) == ["one"]
    assert capsys.readouterr().out.splitlines() == ["-- one: failed", "no network: connect, then run it again"]
