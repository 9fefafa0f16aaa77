"""The entry point attaches, never makes `import torch` fail, and `status` reports an error that happened in it."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _attach, _autoload

from tests.support import fake_torch
from tests.support.installation import entry

SetModule = Callable[..., Any]
InstallVariants = Callable[..., Path]


@pytest.fixture
def torch(set_module: SetModule, install_variants: InstallVariants) -> Any:
    install_variants([entry("2.9", True, "cpu")])
    return set_module(fake_torch.torch(whole=True))


def test_it_attaches(torch: Any) -> None:
    _autoload.autoload()
    assert dlx.status().provider == "dlx"
    assert _autoload.fired
    assert _autoload.why_not_attached(_attach.facts_without_ours(torch, "")) == ""


@pytest.mark.parametrize("setting", ["DLX_TORCH_AUTOLOAD=0", "DLX_TORCH_DISABLE=1"])
def test_it_can_be_switched_off(setting: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    _autoload.autoload()
    status = dlx.status()
    assert status.provider == "none"
    assert name in status.reason


def test_without_autoload_attach_still_works(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_AUTOLOAD", "0")
    _autoload.autoload()
    assert dlx.attach().provider == "dlx"


class _Panic(BaseException):
    pass


@pytest.mark.parametrize(
    "error", [RuntimeError("broken"), MemoryError("broken"), _Panic("broken"), GeneratorExit("broken")]
)
def test_it_catches_every_error_and_status_reports_it(
    error: BaseException, torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(_attach, "attach_imported", fail)
    _autoload.autoload()
    status = dlx.status()
    assert status.provider == "none"
    assert f"{type(error).__name__}: broken" in status.reason


@pytest.mark.parametrize("wish", [KeyboardInterrupt, SystemExit])
def test_keyboard_interrupt_and_system_exit_pass(
    wish: type[BaseException], torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise wish

    monkeypatch.setattr(_attach, "attach_imported", stop)
    with pytest.raises(wish):
        _autoload.autoload()


@pytest.mark.parametrize("torch", [fake_torch.torch("2.2.0"), fake_torch.torch(None), fake_torch.torch("odd")])
def test_a_torch_without_a_fitting_library_still_imports(torch: Any, set_module: SetModule) -> None:
    set_module(torch)
    _autoload.autoload()
    assert _autoload.failure == ""
    assert dlx.status().provider == "none"


class TestWhyNotAttached:
    """Each reason why the entry point did not run says what to do."""

    @pytest.fixture(autouse=True)
    def _registered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_autoload, "_is_registered", lambda: True)

    def test_torch_2_4_has_no_autoload(self, set_module: SetModule) -> None:
        why = _autoload.why_not_attached(_attach.facts_without_ours(set_module(fake_torch.torch("2.4.1")), ""))
        assert "2.4.1 calls no extension" in why
        assert "attach()" in why

    def test_torch_device_backend_autoload(self, set_module: SetModule, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
        why = _autoload.why_not_attached(_attach.facts_without_ours(set_module(fake_torch.torch()), ""))
        assert why.startswith("TORCH_DEVICE_BACKEND_AUTOLOAD=0 keeps torch")

    def test_torch_npu_before_torch(self, set_module: SetModule, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
        npu = fake_torch.torch("2.9.0")
        set_module(npu, "torch_npu")
        why = _autoload.why_not_attached(_attach.facts_without_ours(set_module(fake_torch.torch()), ""))
        assert "`import torch_npu` before `import torch`" in why
        assert "attach()" in why

    def test_no_entry_point(self, set_module: SetModule, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_autoload, "_is_registered", lambda: False)
        why = _autoload.why_not_attached(_attach.facts_without_ours(set_module(fake_torch.torch()), ""))
        assert "no entry point dlx_torch_ext_autoload:__repr__" in why

    def test_torch_was_imported_first(self, set_module: SetModule) -> None:
        assert "attach()" in _autoload.why_not_attached(_attach.facts_without_ours(set_module(fake_torch.torch()), ""))

    def test_status_says_so(self, set_module: SetModule, install_variants: InstallVariants) -> None:
        install_variants([entry("2.4", True, "cpu")])
        set_module(fake_torch.torch("2.4.1"))
        assert "2.4.1 calls no extension" in dlx.status().reason


def test_the_entry_point_is_found_by_its_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.entry_points
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert _autoload._is_registered() is False
    (tmp_path / "some-1.dist-info").mkdir()
    points = tmp_path / "some-1.dist-info" / "entry_points.txt"
    (tmp_path / "some-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: some\nVersion: 1\n")
    points.write_text("[torch.backends]\nother = some.module:function\n")
    assert _autoload._is_registered() is False
    points.write_text(f"[{_autoload.ENTRY_POINT_GROUP}]\ndlx_torch_ext = {_autoload.ENTRY_POINT}\n")
    importlib.invalidate_caches()
    assert _autoload._is_registered() is True
    assert importlib.metadata.entry_points is real


def test_the_entry_point_names_the_function() -> None:
    module, _, function = _autoload.ENTRY_POINT.partition(":")
    assert getattr(importlib.import_module(module), function)() == module
    assert _autoload.fired
