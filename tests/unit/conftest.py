"""Every unit test starts from an environment without settings and a package that has attached nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext
import pytest
from dlx_torch_ext import _attach, _autoload

from tests.support import fake_torch, installation
from tests.support.installation import entry


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
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
def place(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Makes a module the torch (or, by name, another module) of this process for one test; None: there is none."""

    def put(module: Any, name: str = "torch") -> Any:
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return put


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Gives the package these variants, with stub libraries for them if `libraries`; returns the folder that holds
    `_lib`."""

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
def torch(place: Callable[..., Any], install: Callable[..., Path]) -> Any:
    """torch 2.9.1 for the CPU without a table, and libraries for it."""
    install([entry("2.9", True, "cpu"), entry("2.9", True, "cuda")])
    return place(fake_torch.torch(whole=True))


@pytest.fixture
def upstream(place: Callable[..., Any], install: Callable[..., Path]) -> Any:
    """torch 2.13 with a table of its own, and a library for prefer="dlx"."""
    install([entry("2.13", True, "cpu", "prefer")])
    return place(fake_torch.torch("2.13.0", own_table=fake_torch.empty_table(), whole=True))
