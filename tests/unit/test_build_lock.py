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
from dlx_torch_ext._cli.lock import LockHeld, NotALock, locked

from tests.snippets import building
from tests.support.left_out import left_out_if
from tests.support.process import fork, spawn


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
@pytest.mark.fault("the holder of the build's lock is killed", "the lock is free")
def test_a_holder_that_was_killed_holds_nothing(hold: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holder = hold(path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert path.exists()
    with locked(str(path), 0, silent) as alone:
        assert alone


@pytest.mark.parametrize("content", ["", "4711", "9" * 20])
def test_a_file_that_no_process_holds_is_no_obstacle(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.lock").write_text(content)
    with locked(str(tmp_path / "x.lock"), 0, silent) as alone:
        assert alone


class TestSomethingElseThere:
    """It stays as it is, and the error says in one line what it is and what to do."""

    @staticmethod
    def refusal(path: Path) -> str:
        with pytest.raises(NotALock) as error, locked(str(path), 3600, silent):
            pytest.fail("there is no lock")
        assert str(error.value).endswith(", not a lock: remove it")
        assert f"{path} is " in str(error.value)
        return str(error.value)

    @pytest.mark.parametrize("content", ["no number", "4711\n", "9" * 21])
    def test_a_file_with_other_content(self, content: str, tmp_path: Path) -> None:
        (tmp_path / "x.lock").write_text(content)
        assert "a file with other content" in self.refusal(tmp_path / "x.lock")
        assert (tmp_path / "x.lock").read_text() == content

    @pytest.mark.parametrize("content", [None, "", "4711", "precious"])
    @pytest.mark.fault("a symbolic link in the place of the lock", "one line; its target is as it was")
    def test_a_symbolic_link(self, content: str | None, tmp_path: Path) -> None:
        """Also one to nowhere, which would make the file."""
        target = tmp_path / "target"
        if content is not None:
            target.write_text(content)
        (tmp_path / "x.lock").symlink_to(target)
        assert "a symbolic link" in self.refusal(tmp_path / "x.lock")
        assert (target.read_text() if target.exists() else None) == content
        assert (tmp_path / "x.lock").is_symlink()

    @left_out_if(sys.platform == "win32", "Windows has no FIFOs")
    @pytest.mark.fault("a FIFO in the place of the lock", "one line, at once")
    def test_a_fifo(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.lock")
        assert "not a regular file" in spawn.call(building.refusal_of_the_lock, str(tmp_path / "x.lock"))

    @left_out_if(sys.platform == "win32", "Windows counts no names")
    def test_another_name_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "target").write_text("4711")
        os.link(tmp_path / "target", tmp_path / "x.lock")
        assert "one of several names of a file" in self.refusal(tmp_path / "x.lock")
        assert (tmp_path / "target").read_text() == "4711"


def test_a_program_that_is_started_meanwhile_does_not_inherit_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real, inheritable = lock._open, []

    def opened(path: str) -> int:
        descriptor = real(path)
        inheritable.append(os.get_inheritable(descriptor))
        return descriptor

    monkeypatch.setattr(lock, "_open", opened)
    with locked(str(tmp_path / "x.lock"), 0, silent):
        assert inheritable == [False]


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


@left_out_if(not hasattr(os, "fork"), "this system has no fork")
def test_a_forked_child_neither_holds_it_nor_removes_its_file(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"

    def leave_the_block_in_a_child() -> str:
        context.__exit__(None, None, None)
        return str(path.exists())

    context = locked(str(path), 0, silent)
    context.__enter__()
    try:
        assert fork.run(leave_the_block_in_a_child).answer == "True"
        assert path.read_text() == str(os.getpid())
    finally:
        context.__exit__(None, None, None)
    # A child that lives on holds nothing: the lock is free as soon as its parent leaves the block.
    with locked(str(path), 0, silent):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.read(reader, 1)
            os._exit(0)
    try:
        with locked(str(path), 0, silent) as alone:
            assert alone
    finally:
        os.write(writer, b"x")
        os.waitpid(child, 0)
