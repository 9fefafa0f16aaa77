"""Where zig, the compiler for macOS, comes from: this Python has it, or it is downloaded once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.build import cross, zig
from tools.settings import ToolError


@pytest.fixture
def no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dev folder of its own, and a Python without ziglang."""
    monkeypatch.setenv("DLX_DEV_DIR", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(zig, "tool", lambda name: name)
    return tmp_path


def test_beside_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package)
    assert zig.program() == tmp_path / "zig"


def test_fetched_once(no_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = []

    def install(command: list[str], **_: Any) -> str:
        installed.append(command[-1])
        program = Path(command[command.index("--target") + 1], "ziglang", "zig")
        program.parent.mkdir(parents=True)
        program.write_text("")
        return ""

    monkeypatch.setattr(zig, "run", install)
    assert zig.program() == zig.program()
    assert zig.program().is_relative_to(no_package)
    assert zig.program().is_file()
    assert installed == [zig.REQUIREMENT]
    settings = cross.settings("arm64")
    assert settings.environment["ZIG"] == str(zig.program())
    assert Path(settings.defines["CMAKE_TOOLCHAIN_FILE"]).is_file()


def test_a_failed_download_is_an_error_and_leaves_no_folder(no_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> str:
        raise ToolError("no index here")

    monkeypatch.setattr(zig, "run", refuse)
    with pytest.raises(ToolError, match=r"zig, the compiler for macOS, cannot be installed: no index here"):
        cross.settings("arm64")
    assert not (no_package / zig.REQUIREMENT.replace("==", "-")).exists()
