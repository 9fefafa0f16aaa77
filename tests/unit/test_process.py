"""A function in a process of its own, a new interpreter or a fork: its result, and how the process ended."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest

from tests.snippets import endings
from tests.support.left_out import left_out_if
from tests.support.process import fork, spawn

no_fork = left_out_if(not hasattr(os, "fork"), "the system has no fork")
in_both_ways = pytest.mark.parametrize(
    "way", [pytest.param(spawn, id="spawn"), pytest.param(fork, id="fork", marks=no_fork)]
)


@in_both_ways
def test_the_result_comes_from_another_process(way: ModuleType) -> None:
    process, total = way.call(endings.add, 2, 3)
    assert process != os.getpid()
    assert total == 5


@in_both_ways
def test_variables_are_set_and_removed_there_and_not_here(way: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TEST_KEPT", "kept")
    monkeypatch.setenv("DLX_TEST_REMOVED", "here")
    names = ["DLX_TEST_KEPT", "DLX_TEST_REMOVED", "DLX_TEST_ADDED"]
    env = {"DLX_TEST_REMOVED": None, "DLX_TEST_ADDED": "there"}
    assert way.call(endings.variables, names, env=env) == ["kept", None, "there"]
    assert endings.variables(names) == ["kept", "here", None]


@in_both_ways
def test_an_exception_fails_the_test_with_its_traceback(way: ModuleType) -> None:
    with pytest.raises(AssertionError, match=r"(?s)^exit status 1\n.*in fail\n.*LookupError: nothing is here"):
        way.call(endings.fail, "nothing is here")


@in_both_ways
@pytest.mark.parametrize(
    ("function", "argument", "ending"),
    [
        (endings.leave, 3, "exit status 3"),
        pytest.param(
            endings.end_with_signal,
            "SIGKILL",
            "SIGKILL",
            marks=left_out_if(sys.platform == "win32", "the system has no signals"),
        ),
    ],
    ids=["exit_status", "signal"],
)
def test_another_ending_is_described(way: ModuleType, function: object, argument: object, ending: str) -> None:
    with pytest.raises(AssertionError, match=f"^{ending}"):
        way.call(function, argument)


@in_both_ways
@left_out_if(sys.platform == "win32", "the system has no signals")
def test_a_process_that_hangs_is_ended(way: ModuleType) -> None:
    """After the timeout it gets SIGALRM. Here the function sends that itself."""
    with pytest.raises(AssertionError, match=r"^SIGALRM: it ran for more than \d+ s"):
        way.call(endings.end_with_signal, "SIGALRM")


def test_a_function_that_does_not_return_has_no_answer() -> None:
    with pytest.raises(AssertionError, match="the function did not return"):
        spawn.call(endings.leave, 0)


def test_a_new_interpreter_has_imported_almost_nothing() -> None:
    """Otherwise tests that count the imports of `import dlx_torch_ext` would miss some."""
    imported = set(spawn.call(endings.imported_modules))
    assert not imported & {"asyncio", "dlx_torch_ext", "multiprocessing", "pytest", "subprocess", "tempfile", "torch"}


@no_fork
def test_a_crash_of_an_isolated_test_fails_that_test_only() -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/snippets/isolated_tests.py")
    printed = spawn.python(*words).stdout
    assert "the process of this test died: SIGABRT" in printed
    assert "1 failed, 2 passed" in printed


def test_an_isolated_test_at_the_end_of_a_folder_leaves_nothing_to_the_next_folder() -> None:
    files = ("tests/snippets/below/isolated_last.py", "tests/snippets/isolated_tests.py")
    done = spawn.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", "not crashes")
    assert done.status == 0, done
    assert "4 passed, 1 deselected" in done.stdout
