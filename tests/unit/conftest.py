"""Before every unit test no setting is set and nothing is attached. Fixtures for a torch and an installation."""

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
