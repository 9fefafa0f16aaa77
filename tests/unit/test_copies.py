"""A second torch or a second dlx_torch_ext is found without being imported."""

from __future__ import annotations

import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext._cli import copies

from tests.support.command import report
from tests.support.installation import Site, entry, record

STOP = "raise AssertionError('this copy has to stay unimported')\n"


def package(folder: Path, name: str = "torch") -> Path:
    """A package that must not be imported, in `folder`."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(STOP)
    return folder / name


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Makes folders of tmp_path, by their names, the whole of sys.path besides the standard library."""
    library = [entry for entry in sys.path if entry.startswith(sysconfig.get_path("stdlib"))]
    library = [entry for entry in library if "site-packages" not in entry]

    def put(*names: str) -> None:
        monkeypatch.setattr(sys, "path", [*(str(tmp_path / name) for name in names), *library])

    return put


def torch_warnings(imported: Path | str) -> list[str]:
    return list(copies.warnings("torch", "torch", str(imported)))


def test_one_copy_is_no_finding(path: Any, tmp_path: Path) -> None:
    used = package(tmp_path / "a")
    record(tmp_path / "a", "torch", "2.9.1")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    path("a", "empty", "link", "a")
    assert torch_warnings(used) == []
    path("link", "a")
    assert torch_warnings(used) == []


def test_a_second_one_is_named_with_its_version(path: Any, tmp_path: Path) -> None:
    used, other = package(tmp_path / "a"), package(tmp_path / "b")
    record(tmp_path / "b", "torch", "2.4.1")
    path("a", "b")
    assert torch_warnings(used) == [
        f"sys.path has 2 copies of torch: {used} is used, not {other} (2.4.1): remove the wrong ones"
    ]


def test_the_one_in_use_need_not_come_first(path: Any, tmp_path: Path) -> None:
    other, used = package(tmp_path / "a"), package(tmp_path / "b")
    path("a", "b")
    (warning,) = torch_warnings(used)
    assert f"{used} is used, not {other}:" in warning


def test_the_one_in_use_need_not_be_on_the_path(path: Any, tmp_path: Path) -> None:
    """An editable installation: an import hook leads to the checkout."""
    other = package(tmp_path / "b")
    path("b")
    (warning,) = torch_warnings(tmp_path / "checkout" / "torch")
    assert f"not {other}:" in warning


def test_if_none_was_imported_it_is_the_first(path: Any, tmp_path: Path) -> None:
    first, second = package(tmp_path / "a"), package(tmp_path / "b")
    path("a", "b")
    (warning,) = torch_warnings("")
    assert f"{first} is used, not {second}:" in warning
    path("empty")
    assert torch_warnings("") == []


def test_a_folder_that_is_no_package_is_none(path: Any, tmp_path: Path) -> None:
    used = package(tmp_path / "a")
    (tmp_path / "b" / "torch").mkdir(parents=True)
    path("a", "b")
    assert torch_warnings(used) == []


def test_a_path_hook_that_fails_is_passed_over(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(entry: str) -> Any:
        raise RuntimeError("a hook of somebody else")

    used = package(tmp_path / "a")
    monkeypatch.setattr(sys, "path_hooks", [failing])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    path("a")
    assert torch_warnings(used) == []


def test_two_records_in_one_folder(path: Any, tmp_path: Path) -> None:
    used = package(tmp_path / "a")
    record(tmp_path / "a", "torch", "2.4.1")
    record(tmp_path / "a", "torch", "2.9.1")
    path("a")
    (warning,) = torch_warnings(used)
    assert warning.startswith(f"{tmp_path / 'a'} has 2 records of torch (2.4.1, 2.9.1): ")


def test_a_damaged_record(path: Any, tmp_path: Path) -> None:
    used = package(tmp_path / "a")
    record(tmp_path / "a", "torch", "2.9.1")
    (tmp_path / "a" / "torch-2.8.0.dist-info").mkdir()
    path("a")
    (warning,) = torch_warnings(used)
    assert "has 2 records of torch (2.9.1, an unreadable one)" in warning


def test_location() -> None:
    module: Any = types.ModuleType("torch")
    assert copies.location(None) == copies.location(module) == ""
    module.__file__ = "/site/torch.py"
    assert copies.location(module) == "/site/torch.py"
    module.__file__, module.__path__ = "/site/torch/__init__.py", ["/site/torch"]
    assert copies.location(module) == "/site/torch"


@pytest.mark.parametrize("name", ["torch", "dlx_torch_ext"])
def test_the_doctor_names_it(name: str, tmp_path: Path) -> None:
    site = Site(tmp_path / "site", [entry("2.9", True, "cpu")], "fake_torch.torch(whole=True)")
    other = package(tmp_path / "other", name)
    status, found = report(site, PYTHONPATH=f"{site.folder}:{tmp_path / 'other'}:.")
    assert status == 0
    (finding,) = found["findings"]
    assert finding.startswith(f"sys.path has 2 copies of {name}: ")
    assert str(other) in finding
