"""Before every unit test no setting is set and nothing is attached. Fixtures for a torch, an installation, a build."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext
import pytest
from dlx_torch_ext import _attach, _autoload, _cache
from dlx_torch_ext._cli import build as build_command
from dlx_torch_ext._cli.compile import Tools
from dlx_torch_ext._cli.target import Target, plan

from tests.support import fake_torch, installation, stub
from tests.support.installation import entry, facts

LIBRARY = b"a library"  # what a build makes


@pytest.fixture(autouse=True)
def _nothing_set_or_attached(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith(("DLX_TORCH_", "TORCH_DEVICE_")) and "TEST" not in name:
            monkeypatch.delenv(name)
    for name, value in (("fired", False), ("failure", ""), ("suspended", "")):
        monkeypatch.setattr(_autoload, name, value)
    monkeypatch.setattr(_attach, "_warned_too_late", False)
    _attach.detach()
    yield
    _attach.detach()


@pytest.fixture
def set_module(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Makes `module` the torch of this process for one test, or the module `name`. None: there is no such module."""

    def put(module: Any, name: str = "torch") -> Any:
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return put


@pytest.fixture
def install_variants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Gives the package these variants, with stub libraries if `libraries` is true. Returns the folder with `_lib`."""

    def put(
        variants: Sequence[Mapping[str, Any]], libraries: bool = True, platform: str = installation.PLATFORM
    ) -> Path:
        folder = installation.write_manifest(tmp_path / "installed", variants, platform)
        if libraries:
            installation.write_libraries(folder, variants)
        monkeypatch.setattr(dlx_torch_ext, "__path__", [str(folder), *dlx_torch_ext.__path__])
        return folder

    return put


@pytest.fixture
def torch(set_module: Callable[..., Any], install_variants: Callable[..., Path]) -> Any:
    """torch 2.9.1 for the CPU, which has no table, and libraries for it."""
    install_variants([entry("2.9", True, "cpu"), entry("2.9", True, "cuda")])
    return set_module(fake_torch.torch(whole=True))


@pytest.fixture
def upstream(set_module: Callable[..., Any], install_variants: Callable[..., Path]) -> Any:
    """torch 2.13 with a table of its own, and a library for prefer="dlx"."""
    install_variants([entry("2.13", True, "cpu", "prefer")])
    return set_module(fake_torch.torch("2.13.0", own_table=fake_torch.empty_table(), whole=True))


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Target]:
    """Builds into tmp_path/out with `compiler`, by default one that writes LIBRARY. `problem`: what the check of the
    result finds."""
    monkeypatch.setattr(_cache, "revision", lambda: "0123456789ab")

    def compile_library(tools: Tools, here: Any, backend: str, work: str) -> str:
        path = Path(work) / "built.so"
        path.write_bytes(LIBRARY)
        return str(path)

    def now(
        compiler: Callable[..., str] = compile_library,
        problem: str = "",
        folder: Path | None = tmp_path / "out",
        name: str | None = None,
        **changes: Any,
    ) -> Target:
        def problem_in_a_child(path: str, backend: str) -> str:
            return problem if Path(path).read_bytes() == LIBRARY else "truncated"

        tools = Tools("/source", "cmake", "ninja", "/dlpack", "/torch")
        monkeypatch.setattr(build_command, "find_tools", lambda _: tools)
        monkeypatch.setattr(build_command, "compile_library", compiler)
        monkeypatch.setattr(build_command, "_problem_in_a_child", problem_in_a_child)
        target = plan(facts(**changes), None, str(folder) if folder else None, name)
        build_command._build_target(target, "/torch")
        return target

    return now


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library in a folder of this user's, where nobody else can write."""
    path = stub.library(tmp_path / "cache" / "lib.so")
    path.parent.chmod(0o755)
    path.chmod(0o644)
    return path
