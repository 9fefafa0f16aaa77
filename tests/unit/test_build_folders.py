"""The folder that a library is built into: who can write there, what killed builds left, and what is said where
something cannot be done."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _cache, _trust
from dlx_torch_ext._cli import build as build_command
from dlx_torch_ext._cli import folders
from dlx_torch_ext._cli.compile import Tools
from dlx_torch_ext._cli.target import Target, plan
from dlx_torch_ext._errors import BuildError
from dlx_torch_ext._settings import Settings

from tests.support import fake_torch
from tests.support.installation import facts
from tests.support.left_out import left_out_if
from tests.support.mounts import may_mount, mount_tmpfs

Build = Callable[..., Target]
needs_modes = left_out_if(sys.platform == "win32", "Windows has access lists, no modes")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def no_umask() -> Any:
    before = os.umask(0)
    yield
    os.umask(before)


@needs_modes
@pytest.mark.usefixtures("no_umask")
class TestModes:
    """Whatever the umask is, nobody else can write to what we make."""

    def test_the_cache_and_what_is_missing_above_it_are_for_this_user_alone(self, build: Build, tmp_path: Path) -> None:
        cache = tmp_path / ".cache" / "dlx-torch-ext"
        target = build(folder=None, settings=Settings(cache_dir=str(cache)))
        assert [mode(cache.parent), mode(cache)] == [0o700, 0o700]
        assert mode(Path(target.path)) == 0o755

    def test_what_the_tools_make_is_not_what_is_opened(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        def compile_library(tools: Any, here: Any, backend: str, work: str) -> str:
            path = Path(work) / "_lib" / "exact" / "built.so"
            path.parent.mkdir(parents=True)
            path.write_bytes(b"everybody can write this file and its folder")
            path.chmod(0o777)
            assert _trust.problem(str(path)) != ""
            return str(path)

        tried: list[str] = []

        def try_it(path: str, backend: str) -> str:
            tried.append(_trust.problem(path))
            return ""

        monkeypatch.setattr(_cache, "revision", lambda: "0123456789ab")
        monkeypatch.setattr(build_command, "find_tools", lambda _: Tools("", "cmake", "", "", ""))
        monkeypatch.setattr(build_command, "compile_library", compile_library)
        monkeypatch.setattr(build_command, "_problem_in_a_child", try_it)
        build_command._build_target(plan(facts(), None, str(tmp_path / "out"), None), "/torch")
        assert tried == [""]

    def test_a_folder_of_the_users_choice_can_be_read(self, build: Build, tmp_path: Path) -> None:
        target = build(folder=tmp_path / "a" / "b")
        assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b"), mode(Path(target.path))] == [0o755] * 3

    def test_a_folder_that_is_there_stays_as_it_is(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir(0o711)
        build()
        assert mode(tmp_path / "out") == 0o711

    @pytest.mark.fault("a cache that others can write", "nothing is built; one line says which folder")
    def test_where_others_could_put_a_library_none_is_built(self, build: Build, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir(0o777)
        with pytest.raises(BuildError) as error:
            build(compiler=lambda *_: pytest.fail("compiled, and never to be loaded"))
        assert str(error.value) == (
            f"no library in {out} would ever be opened, because {out} can be written by everybody: chmod go-w {out}, or"
            " use a folder of your own; give --output-dir, or set DLX_TORCH_CACHE_DIR"
        )
        assert os.listdir(out) == []


class TestLeftovers:
    """The folder of a build that was killed. Its name says which process made it, on which host."""

    @pytest.fixture
    def leave(self, tmp_path: Path) -> Callable[..., Path]:
        def now(host: str, pid: int, age_s: float = 0, name: str = "x.so") -> Path:
            place = tmp_path / f".{name}.build-{host}-{pid}-abc_1234"
            (place / "_lib").mkdir(parents=True)
            changed = place.stat().st_mtime - age_s
            os.utime(place, (changed, changed))
            return place

        return now

    @pytest.fixture
    def ended(self) -> int:
        """The number of a process that has ended."""
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return process.pid

    @left_out_if(sys.platform == "win32", "Windows has no safe way to ask for a process")
    def test_of_a_process_that_ended(self, leave: Callable[..., Path], ended: int, tmp_path: Path) -> None:
        place = leave(folders._host(), ended)
        folders.clear(str(tmp_path), "x.so")
        assert not place.exists()

    def test_of_a_process_that_had_our_number(self, leave: Callable[..., Path], tmp_path: Path) -> None:
        """In a container each one has the same."""
        place = leave(folders._host(), os.getpid())
        folders.clear(str(tmp_path), "x.so")
        assert not place.exists()

    def test_of_a_process_that_runs(self, leave: Callable[..., Path], tmp_path: Path) -> None:
        place = leave(folders._host(), os.getppid())
        folders.clear(str(tmp_path), "x.so")
        assert place.exists()

    @pytest.mark.parametrize(("age_s", "stays"), [(0, True), (2 * 900, True), (25 * 3600, False)])
    def test_of_another_host_only_if_it_is_very_old(
        self, age_s: float, stays: bool, leave: Callable[..., Path], ended: int, tmp_path: Path
    ) -> None:
        place = leave("another_host", ended, age_s)
        folders.clear(str(tmp_path), "x.so")
        assert place.exists() == stays

    def test_of_another_library(self, leave: Callable[..., Path], ended: int, tmp_path: Path) -> None:
        place = leave(folders._host(), ended, name="y.so")
        folders.clear(str(tmp_path), "x.so")
        assert place.exists()

    def test_a_link_of_that_name_is_not_followed(self, tmp_path: Path, ended: int) -> None:
        (tmp_path / "target").mkdir()
        (tmp_path / "target" / "precious").touch()
        (tmp_path / f".x.so.build-{folders._host()}-{ended}-abc").symlink_to(tmp_path / "target")
        folders.clear(str(tmp_path), "x.so")
        assert (tmp_path / "target" / "precious").exists()

    @pytest.mark.parametrize("host", ["node17", "node-17.cluster", "a/b", "*", "é", "x" * 300])
    def test_any_name_of_a_host(self, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(platform, "node", lambda: host)
        place = folders.workplace(str(tmp_path), "x.so")
        assert os.path.dirname(place) == str(tmp_path)
        folders.clear(str(tmp_path), "x.so")
        assert not os.path.exists(place)


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device", "/where/it/is")


def write_much(tools: Any, here: Any, backend: str, work: str) -> str:
    path = Path(work) / "built.so"
    path.write_bytes(bytes(1 << 20))
    return str(path)


class TestWhatFailed:
    """An OSError becomes one line: what was done, on which path, the system's reason, and what to do."""

    ANOTHER_PLACE = "give --output-dir, or set DLX_TORCH_CACHE_DIR"

    @staticmethod
    def said(build: Build, **options: Any) -> str:
        with pytest.raises(BuildError) as error:
            build(**options)
        assert "\n" not in str(error.value)
        return str(error.value)

    @pytest.mark.parametrize(
        ("function", "step"),
        [
            ((os, "mkdir"), "making the folder"),
            ((build_command, "locked"), "taking the lock"),
            ((tempfile, "mkdtemp"), "making a folder to build in"),
            ((os, "chmod"), "finishing the library"),
            ((os, "replace"), "finishing the library"),
        ],
    )
    @pytest.mark.fault(
        "a folder that is full or cannot be written, at each step of a build",
        "one line names the step; nothing is left",
    )
    def test_in_the_folder(
        self, function: tuple[Any, str], step: str, build: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(*function, refuse)
        said = self.said(build)
        assert said == f"the build stopped at {step}: /where/it/is: No space left on device: {self.ANOTHER_PLACE}"
        monkeypatch.undo()
        assert not (tmp_path / "out").exists() or os.listdir(tmp_path / "out") == []

    @left_out_if(not may_mount(), "this process may mount no file system")
    @pytest.mark.isolated
    @pytest.mark.parametrize(
        ("options", "step"),
        [("nr_inodes=1", "taking the lock"), ("nr_inodes=2", "making a folder to build in"), ("size=4k", "compiling")],
    )
    @pytest.mark.fault("a small tmpfs that is full, at three steps", "one line names the step; nothing is left")
    def test_a_real_file_system_that_is_full(self, options: str, step: str, build: Build, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        mount_tmpfs(str(tmp_path / "out"), options=f"{options},mode=700")
        said = self.said(build, compiler=write_much)
        assert said.startswith(f"the build stopped at {step}: ")
        assert ": No space left on device: " in said
        assert [name for name in os.listdir(tmp_path / "out") if not name.endswith(".lock")] == []

    def test_the_compiler(self, build: Build) -> None:
        said = self.said(build, compiler=refuse)
        assert said.startswith("the build stopped at compiling: /where/it/is: No space left on device: mend that, and")

    def test_both_paths_are_named(self, build: Build, tmp_path: Path) -> None:
        target = build(name="mine.so")
        os.unlink(target.path)
        os.mkdir(target.path)
        said = self.said(build, name="mine.so")
        assert "the build stopped at moving the library to its place: " in said
        assert f"/finished-built.so: {target.path}: " in said

    def test_a_file_in_the_place_of_the_folder(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for folder in (tmp_path / "file", tmp_path / "file" / "below"):
            said = self.said(build, folder=folder)
            assert said == f"the build stopped at making the folder: {folder}: Not a directory: {self.ANOTHER_PLACE}"

    @left_out_if(sys.platform != "linux", "only Linux has /proc")
    @pytest.mark.fault("a cache folder that nobody can make", "one line says so")
    def test_a_folder_that_nobody_can_make(self, build: Build) -> None:
        assert "the build stopped at making the folder: /proc/no: No such file or directory" in self.said(
            build, folder=Path("/proc/no/such/folder")
        )

    def test_something_else_where_the_lock_has_to_be(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / ".mine.so.lock").symlink_to(tmp_path / "victim")
        assert self.said(build, name="mine.so") == (
            f"{tmp_path / 'out' / '.mine.so.lock'} is a symbolic link, not a lock: remove it"
        )
        assert not (tmp_path / "victim").exists()

    def test_anything_else(
        self,
        set_module: Callable[[Any], Any],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        tmp_path: Path,
    ) -> None:
        set_module(fake_torch.torch(whole=True))
        monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
        monkeypatch.setattr(_cache, "revision", refuse)
        assert build_command.run(None, str(tmp_path), None) == 1
        assert capsys.readouterr().err == (
            "dlx-torch: the build stopped at its preparation: /where/it/is: No space left on device: mend that, and run"
            " `dlx-torch build` again [DLX310]\n"
        )
