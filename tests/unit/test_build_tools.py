"""The programs and files that compiling needs, and the error if one is missing or fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dlx_torch_ext import _cache
from dlx_torch_ext._cli import compile
from dlx_torch_ext._errors import BuildError

from tests.support.left_out import left_out_if


class TestWhatIsMissing:
    @pytest.fixture
    def torch_folder(self, tmp_path: Path) -> str:
        header = tmp_path / "torch" / "include" / "c10" / "core" / "TensorImpl.h"
        header.parent.mkdir(parents=True)
        header.touch()
        return str(tmp_path / "torch")

    @pytest.fixture
    def programs(self, monkeypatch: pytest.MonkeyPatch) -> set[str]:
        """The programs that this machine has."""
        here = {"cmake", "ninja", "c++"}
        monkeypatch.setattr("shutil.which", lambda name, path=None: f"/bin/{name}" if name in here else None)
        monkeypatch.delenv("CXX", raising=False)
        monkeypatch.setattr(compile, "_find_dlpack", lambda: "/include")
        return here

    @staticmethod
    def missing(torch_folder: str) -> str:
        with pytest.raises(BuildError) as error:
            compile.find_tools(torch_folder)
        assert "\n" not in str(error.value)
        return str(error.value)

    def test_nothing(self, torch_folder: str, programs: set[str]) -> None:
        tools = compile.find_tools(torch_folder)
        assert (tools.cmake, tools.ninja, tools.torch) == ("/bin/cmake", "/bin/ninja", torch_folder)

    @pytest.mark.parametrize("program", ["cmake", "ninja"])
    def test_a_program(self, program: str, torch_folder: str, programs: set[str]) -> None:
        programs.remove(program)
        assert self.missing(torch_folder) == f"{program} is not found: pip install 'dlx-torch-ext[build]'"

    @left_out_if(sys.platform == "win32", "Visual Studio is found by CMake")
    def test_a_compiler(self, torch_folder: str, programs: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
        programs.remove("c++")
        assert "no C++ compiler: install g++" in self.missing(torch_folder)
        programs.add("clang++")
        compile.find_tools(torch_folder)
        monkeypatch.setenv("CXX", "ccache missing++")
        assert "CXX=ccache missing++: there is no program ccache here" in self.missing(torch_folder)
        programs.add("ccache")
        compile.find_tools(torch_folder)

    def test_torchs_headers(self, tmp_path: Path, programs: set[str]) -> None:
        assert "has no C++ headers" in self.missing(str(tmp_path))

    def test_our_sources(self, torch_folder: str, programs: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_cache, "source_folder", lambda: "")
        assert "has no sources to compile: reinstall it" in self.missing(torch_folder)

    def test_dlpack(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        import dlx_torch_ext

        monkeypatch.setattr(dlx_torch_ext, "__path__", [str(tmp_path)])
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        with pytest.raises(
            BuildError, match=r"dlpack/dlpack.h, a header of apache-tvm-ffi, is not found.*dlx-torch-ext\[build\]"
        ):
            compile._find_dlpack()
        (tmp_path / "include" / "dlpack").mkdir(parents=True)
        (tmp_path / "include" / "dlpack" / "dlpack.h").touch()
        assert compile._find_dlpack() == str(tmp_path / "include")


def test_the_output_of_a_compiler_comes_without_the_command() -> None:
    output = ["[1/2] Building a.o", "FAILED: a.o", "c++ -I... a.cc", "a.cc:1:1: error: no", *["note"] * 100]
    assert compile.failure_lines(output)[:2] == ["a.cc:1:1: error: no", "note"]
    assert len(compile.failure_lines(output)) <= 40
    assert compile.failure_lines(["anything"]) == ["anything"]


def test_cmakes_message_becomes_one_line() -> None:
    output = [
        "-- ok",
        "CMake Error at x:1 (message):",
        "  no headers here:",
        "  install them",
        "",
        "Call Stack:",
        "  x:2",
    ]
    assert compile.failure_lines(output) == ["no headers here: install them"]
    assert compile.failure_lines(["CMake Error: no such file"]) == ["CMake Error: no such file"]


def test_a_program_that_fails_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["[1/2] one", "FAILED: x", "the command", "the cause", "and more"]
    program = f"print(*{lines}, sep=chr(10)); raise SystemExit(3)"
    with pytest.raises(BuildError) as error:
        compile._run_step("compiling", [sys.executable, "-c", program])
    assert str(error.value).splitlines() == ["compiling failed: the cause", "and more"]
    assert capsys.readouterr().out == ""


def test_a_program_that_fails_without_output() -> None:
    with pytest.raises(BuildError, match=r"^configuring failed: exit status 3$"):
        compile._run_step("configuring", [sys.executable, "-c", "raise SystemExit(3)"])
