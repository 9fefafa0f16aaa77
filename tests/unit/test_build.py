"""`dlx-torch build` without torch and without a compiler: its options, its errors, and the files that it leaves."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _cache, _cli, _facts
from dlx_torch_ext._cli import build as build_command
from dlx_torch_ext._cli import target as target_module
from dlx_torch_ext._cli.target import Target, plan
from dlx_torch_ext._errors import BuildError
from dlx_torch_ext._settings import Settings

from tests.snippets import building
from tests.support.installation import facts
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.unit.conftest import LIBRARY

NPU = {"torch_npu": "2.9.0", "system": "linux", "machine": "aarch64"}


@pytest.fixture(autouse=True)
def _revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cache, "revision", lambda: "0123456789ab")
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")  # run() sets it; monkeypatch restores it after the test


def usage_error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The last line that argparse prints for a wrong command line."""
    with pytest.raises(SystemExit) as stopped:
        _cli.main(["build", *arguments])
    assert stopped.value.code == 2
    return capsys.readouterr().err.strip().splitlines()[-1]


class TestOptions:
    OPTIONS = ("--build-with-cuda", "--build-with-rocm", "--build-with-torch-npu")

    @pytest.mark.parametrize(("first", "second"), list(itertools.permutations(OPTIONS, 2)))
    def test_exclude_one_another(self, first: str, second: str, capsys: pytest.CaptureFixture[str]) -> None:
        line = usage_error(capsys, first, second)
        assert first in line
        assert second in line

    @pytest.mark.parametrize(
        ("system", "option"),
        [
            ("windows", "--build-with-torch-npu"),
            ("macos", "--build-with-torch-npu"),
            ("windows", "--build-with-rocm"),
            ("macos", "--build-with-rocm"),
            ("macos", "--build-with-cuda"),
        ],
    )
    def test_refused_on_other_systems(
        self, system: str, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(_facts, "system", lambda: system)
        line = usage_error(capsys, option)
        assert f"argument {option}" in line
        assert f"this is {system}" in line

    @pytest.mark.parametrize("system", ["linux", "windows", "macos"])
    def test_where_each_backend_can_be_built(self, system: str) -> None:
        allowed = {b for b in (None, *_cache.BACKENDS) if not target_module.refused_on(system, b)}
        accelerators = {"linux": {"cuda", "rocm", "torch_npu"}, "windows": {"cuda"}, "macos": set()}
        assert allowed == {None, "cpu"} | accelerators[system]

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ([], (None, None, None)),
            (["--build-with-cuda"], ("cuda", None, None)),
            (["--build-with-rocm", "--output-dir", "d"], ("rocm", "d", None)),
            (["--build-with-torch-npu", "--libname", "x.so"], ("torch_npu", None, "x.so")),
        ],
    )
    def test_are_passed_to_run(self, arguments: list[str], expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_facts, "system", lambda: "linux")
        monkeypatch.setattr(build_command, "run", lambda *given: given)
        assert _cli.main(["build", *arguments]) == expected


def planned(option: str | None = None, output: str | None = "out", name: str | None = None, **changes: Any) -> Target:
    return plan(facts(**changes), option, output, name)


def refused(option: str | None = None, output: str | None = "out", name: str | None = None, **changes: Any) -> str:
    with pytest.raises(BuildError) as error:
        planned(option, output, name, **changes)
    assert "\n" not in str(error.value)
    return str(error.value)


class TestPlan:
    @pytest.mark.parametrize(
        ("situation", "backend"),
        [
            ({}, "cpu"),
            ({"backend": "cuda"}, "cuda"),
            ({"backend": "rocm"}, "rocm"),
            (NPU, "torch_npu"),
            ({**NPU, "backend": "cuda", "cuda_active": lambda: True}, "cuda"),
            ({**NPU, "backend": "cuda", "cuda_active": lambda: False}, "torch_npu"),
            ({**NPU, "system": "windows"}, "cpu"),
        ],
    )
    def test_the_backend_is_the_one_resolve_wants(self, situation: dict[str, Any], backend: str) -> None:
        assert planned(**{"system": "linux", **situation}).backend == backend

    def test_an_option_overrides_that_backend(self) -> None:
        assert planned("cuda", **NPU, backend="cuda").backend == "cuda"
        assert planned("torch_npu", **NPU, backend="cuda", cuda_active=lambda: True).backend == "torch_npu"

    @pytest.mark.parametrize(
        "version", ["2.9.0a0+50eac811a6.nv25.09", "2.16.0.dev20270101+cu130", "2.4.0", "2.9.1+cpu"]
    )
    def test_any_version_can_be_built_for(self, version: str, tmp_path: Path) -> None:
        target = planned(output=str(tmp_path), torch=version)
        assert target.name == f"torch{version}-cxx11-cpu"
        assert target.path == str(tmp_path / _cache.file_name(facts(torch=version), "cpu"))
        assert not target.user_named

    def test_into_the_cache(self, tmp_path: Path) -> None:
        target = planned(output=None, settings=Settings(cache_dir=str(tmp_path)))
        assert os.path.dirname(target.path) == str(tmp_path)

    def test_disabled_does_not_prevent_building(self, tmp_path: Path) -> None:
        assert planned(output=str(tmp_path), settings=Settings(disable=True)).backend == "cpu"

    def test_with_libname(self, tmp_path: Path) -> None:
        target = planned(output=str(tmp_path), name="libmine.so")
        assert target.path == str(tmp_path / "libmine.so")
        assert target.user_named

    @pytest.mark.parametrize("name", ["", ".", "..", "a/b.so", "/b.so"])
    def test_a_name_must_not_be_a_path(self, name: str) -> None:
        assert "is not the name of a file without a folder: give the folder with --output-dir" in refused(name=name)

    def test_a_torch_too_old(self) -> None:
        assert "older than 2.4" in refused(torch="2.3.1")

    def test_no_torch(self) -> None:
        assert refused(torch=None, torch_problem="torch is not installed") == "torch is not installed"

    @pytest.mark.parametrize("version", ["unknown", "2.9;rm", '2.9"', "2.9 1"])
    def test_a_version_that_is_not_one(self, version: str) -> None:
        assert "is not a version number" in refused(torch=version)

    def test_an_unknown_abi(self) -> None:
        assert "C++ ABI" in refused(cxx11_abi=None)

    def test_another_python(self) -> None:
        assert "pypy is not CPython" in refused(implementation="pypy")

    @pytest.mark.parametrize("backend", ["cuda", "rocm"])
    def test_a_torch_built_for_something_else(self, backend: str) -> None:
        reason = refused(backend, system="linux")
        assert f"a {backend} library needs a torch built for {backend}" in reason
        assert "is built for cpu" in reason

    def test_torch_npu_that_is_not_installed(self) -> None:
        assert "torch_npu is not installed" in refused("torch_npu", system="linux")

    def test_a_torch_for_an_accelerator_that_we_do_not_build_for(self) -> None:
        assert "is built for xpu, dlx-torch-ext builds for cpu, cuda, rocm, torch_npu only" in refused(backend="xpu")

    def test_no_home_directory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_cache, "folder", lambda _: "")
        assert "DLX_TORCH_CACHE_DIR" in refused(output=None)


class TestBuilding:
    def test_leaves_the_library_and_nothing_else(self, build: Callable[..., Target], tmp_path: Path) -> None:
        target = build()
        assert Path(target.path).read_bytes() == LIBRARY
        assert os.listdir(tmp_path / "out") == [os.path.basename(target.path)]

    def test_a_second_build_does_nothing(
        self, build: Callable[..., Target], capsys: pytest.CaptureFixture[str]
    ) -> None:
        build()
        build(compiler=lambda *_: pytest.fail("compiled again"))
        assert "is built already" in capsys.readouterr().err

    def test_with_libname_it_builds_again(self, build: Callable[..., Target]) -> None:
        target = build(name="mine.so")
        Path(target.path).write_bytes(b"from other sources")
        assert Path(build(name="mine.so").path).read_bytes() == LIBRARY

    def test_replaces_what_is_broken(self, build: Callable[..., Target], capsys: pytest.CaptureFixture[str]) -> None:
        target = build()
        Path(target.path).write_bytes(b"half")
        build()
        assert Path(target.path).read_bytes() == LIBRARY
        assert "building it again: the library that is there does not work: truncated" in capsys.readouterr().err

    def test_a_failure_leaves_nothing(self, build: Callable[..., Target], tmp_path: Path) -> None:
        def fail(*_: Any) -> str:
            raise BuildError("compiling failed")

        with pytest.raises(BuildError, match="compiling failed"):
            build(compiler=fail)
        assert os.listdir(tmp_path / "out") == []

    def test_a_failure_leaves_what_was_there(self, build: Callable[..., Target], tmp_path: Path) -> None:
        target = build(name="mine.so")
        with pytest.raises(BuildError, match="does not work: the self-test failed"):
            build(name="mine.so", problem="the self-test failed")
        assert Path(target.path).read_bytes() == LIBRARY

    def test_another_process_builds_there_for_too_long(
        self, build: Callable[..., Target], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(build_command, "_TIMEOUT_S", 0.0)

        def meanwhile(*_: Any) -> str:
            with pytest.raises(BuildError, match=rf"process {os.getpid()} has been building") as error:
                build(name="mine.so", compiler=lambda *_: pytest.fail("two compile"))
            raise error.value

        with pytest.raises(BuildError, match="wait for it, or end it"):
            build(name="mine.so", compiler=meanwhile)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@left_out_if(sys.platform == "win32", "Windows has no SIGKILL")
@pytest.mark.fault("a builder is killed", "the next one builds")
def test_a_killed_build_does_not_block_the_next_one(build: Callable[..., Target], tmp_path: Path) -> None:
    killed = spawn.start(building.build, str(tmp_path / "out"))
    word, _, work = line(killed).partition(" ")
    assert word == "compiling"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert os.path.isdir(work)
    target = build()
    assert os.listdir(tmp_path / "out") == [os.path.basename(target.path)]


def test_the_second_of_two_waits_and_takes_what_the_first_built(tmp_path: Path) -> None:
    first = spawn.start(building.build, str(tmp_path / "out"))
    assert line(first).startswith("compiling")
    second = spawn.start(building.build, str(tmp_path / "out"))
    assert second.stderr is not None
    assert f"waiting for process {first.pid}" in second.stderr.readline()
    first_out, _ = first.communicate("\n")
    second_out, second_err = second.communicate()
    assert (first_out, second_out) == ("done\n", "done\n")
    assert "is built already" in second_err


def test_run_says_in_one_line_what_is_wrong(
    set_module: Callable[[Any], Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tests.support import fake_torch

    set_module(fake_torch.torch("2.3.1"))
    assert build_command.run(None, str(tmp_path), None) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (
        captured.err
        == "dlx-torch: torch 2.3.1 is older than 2.4, the oldest that dlx-torch-ext supports: upgrade torch"
        " [DLX014]\n"
    )
