"""The lock between builds: another process waits for it until a timeout; a file that cannot be created is an error."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext._cli import lock
from dlx_torch_ext._cli.lock import LockHeld, locked

from tests.snippets import building
from tests.support.left_out import left_out_if
from tests.support.process import spawn


@pytest.fixture
def hold() -> Iterator[Callable[[Path], Any]]:
    """Starts a process that holds a lock until its stdin ends."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path) -> subprocess.Popen[str]:
        process = spawn.start(building.hold_lock, str(path))
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.communicate()


def silent(holder: str) -> None:
    raise AssertionError(f"waited for {holder}")


def test_the_file_exists_while_the_lock_is_held(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with locked(str(path), 0, silent) as alone:
        assert alone
        assert path.read_text() == str(os.getpid())
    assert os.listdir(tmp_path) == []


def test_removed_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(str(tmp_path / "x.lock"), 0, silent):
        1 / 0  # noqa: B018
    assert os.listdir(tmp_path) == []


def test_raises_after_the_timeout_if_another_process_holds_it(hold: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder = hold(path)
    announced: list[str] = []
    with pytest.raises(LockHeld, match=f"process {holder.pid}"), locked(str(path), 0.3, announced.append):
        pytest.fail("two hold it")
    assert announced == [f"process {holder.pid}"]
    assert path.exists(), "the holder's file was removed"


def test_waits_until_it_is_free(hold: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder = hold(path)
    with locked(str(path), 60, lambda _: print(file=holder.stdin, flush=True)) as alone:
        assert alone
        assert path.read_text() == str(os.getpid())


@left_out_if(sys.platform == "win32", "Windows has no SIGKILL")
def test_a_holder_that_was_killed_holds_nothing(hold: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder = hold(path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert path.exists()
    with locked(str(path), 0, silent) as alone:
        assert alone


def test_a_file_that_no_process_holds_is_not_a_lock(tmp_path: Path) -> None:
    (tmp_path / "x.lock").write_text("no number")
    with locked(str(tmp_path / "x.lock"), 0, silent) as alone:
        assert alone


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ENOENT])
def test_a_file_that_cannot_be_created_is_reported_at_once(
    code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match=os.strerror(code)), locked(str(tmp_path / "x.lock"), 3600, silent):
        pytest.fail("there is no lock")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), locked(str(tmp_path / "file" / "x.lock"), 3600, silent):
        pytest.fail("there is no lock")


@left_out_if(sys.platform == "win32", "Windows has no flock")
def test_on_a_file_system_without_locks_it_works_without_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(str(tmp_path / "x.lock"), 3600, silent) as alone:
        assert not alone


def test_a_file_that_its_holder_removed_is_not_the_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    real, calls = lock._is_same_file, []

    def removed_meanwhile(descriptor: int, name: str) -> bool:
        calls.append(name)
        if len(calls) == 1:
            os.unlink(name)
        return real(descriptor, name)

    monkeypatch.setattr(lock, "_is_same_file", removed_meanwhile)
    with locked(str(path), 0, silent) as alone:
        assert alone
        assert path.exists()
    assert len(calls) == 2
