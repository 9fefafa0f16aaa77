"""The environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlx_torch_ext._settings import Settings, read_settings

from tests.support.switches import VALUES


def test_nothing_set() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"DLX_TORCH_PREFER": "", "DLX_TORCH_DISABLE": ""}) == Settings()


@pytest.mark.parametrize("value", VALUES)
def test_switches(value: str) -> None:
    names = ("DLX_TORCH_DISABLE", "DLX_TORCH_AUTOLOAD", "DLX_TORCH_NPU_DRAIN")
    settings = read_settings(dict.fromkeys(names, value))
    assert (settings.disable, settings.autoload, settings.npu_drain) == (VALUES[value],) * 3


def test_values() -> None:
    settings = read_settings({"DLX_TORCH_PREFER": "dlx", "DLX_TORCH_LIBRARY": "/a.so", "DLX_TORCH_CACHE_DIR": "/cache"})
    assert settings == Settings(prefer="dlx", library="/a.so", cache_dir="/cache")


def test_paths_are_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = read_settings({"DLX_TORCH_LIBRARY": "own.so", "DLX_TORCH_CACHE_DIR": "~/cache"})
    assert settings == Settings(library=str(tmp_path / "own.so"), cache_dir=str(tmp_path / "home" / "cache"))


def test_an_unknown_preference_is_reported_and_ignored() -> None:
    settings = read_settings({"DLX_TORCH_PREFER": "mine"})
    assert settings.prefer == "upstream"
    assert "DLX_TORCH_PREFER=mine is neither upstream nor dlx" in settings.problem
