"""The environment variables."""

from __future__ import annotations

import re
from pathlib import Path

import dlx_torch_ext
import pytest
from dlx_torch_ext._settings import BUILD_VARIABLES, SWITCHES, VARIABLES, Settings, read_settings

from tests.support.process.finished import ROOT
from tests.support.switches import VALUES


def test_nothing_set() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"DLX_TORCH_PREFER": "", "DLX_TORCH_DISABLE": ""}) == Settings()


@pytest.mark.parametrize("value", VALUES)
def test_switches(value: str) -> None:
    settings = read_settings(dict.fromkeys(VARIABLES.values(), value))
    assert [getattr(settings, field) for field in SWITCHES] == [VALUES[value]] * len(SWITCHES)


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
    assert settings.problem == "DLX_TORCH_PREFER=mine is neither upstream nor dlx: taken as upstream"


@pytest.mark.parametrize("value", ["ascend", "Ascend", " ascend "])
def test_the_name_of_npu_tensors(value: str) -> None:
    assert read_settings({"DLX_TORCH_NPU_DEVICE_TYPE": value}) == Settings(npu_device_type="ascend")


@pytest.mark.parametrize("value", ["ext_dev", "", "kDLAscend", "21"])
def test_any_other_name_is_the_default(value: str) -> None:
    settings = read_settings({"DLX_TORCH_NPU_DEVICE_TYPE": value})
    assert settings.npu_device_type == "ext_dev"
    wrong = f"DLX_TORCH_NPU_DEVICE_TYPE={value} is neither ext_dev nor ascend: taken as ext_dev"
    assert settings.problem == (wrong if value not in ("ext_dev", "") else "")


def names(pattern: str, *files: Path) -> set[str]:
    return {name for file in files for name in re.findall(pattern, file.read_text(encoding="utf-8"))}


def test_every_variable_that_is_read_is_known() -> None:
    """The doctor warns of any other."""
    package, cpp = Path(dlx_torch_ext.__file__).parent, ROOT / "cpp"
    python = names(r'"(DLX_TORCH_\w*[A-Z0-9])"', *package.rglob("*.py"))
    python -= {"DLX_TORCH_EXACT", "DLX_TORCH_CXX11_ABI", "DLX_TORCH_VERSION"}  # which `dlx-torch build` sets for CMake
    read_by_cpp = names(r'(?:getenv|Switch \w+)\("(\w+)"', *cpp.rglob("*.cc"))
    assert len(read_by_cpp) == 3
    assert read_by_cpp <= set(VARIABLES.values()) <= python
    assert python <= {*VARIABLES.values(), *BUILD_VARIABLES}


def test_every_variable_of_the_build_is_known() -> None:
    read = names(r"(?:env = \"|if\.env\.)(DLX_TORCH_\w+)", ROOT / "pyproject.toml")
    assert read == set(BUILD_VARIABLES)
