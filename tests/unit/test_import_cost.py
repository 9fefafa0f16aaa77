"""Which modules are imported: by `import dlx_torch_ext` no other one; by the entry point only those listed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snippets import import_cost
from tests.support.installation import Site, entry

CPU = [entry("2.9", True, "cpu")]

PACKAGES = {"dlx_torch_ext", "dlx_torch_ext_autoload"}
OURS = {
    *("_attach", "_autoload", "_cache", "_capsule", "_dlpack", "_elf", "_facts", "_installed", "_layout", "_load"),
    *("_record", "_release", "_resolve", "_selftest", "_settings", "_variants"),
}


# Not imported if torch has a table of its own, because then no library is loaded.
ONLY_FOR_A_LIBRARY = {"_elf", "_layout", "_load", "_selftest"}


def test_the_package_imports_nothing_else(tmp_path: Path) -> None:
    assert Site(tmp_path, CPU).call(import_cost.of_the_package) == ["dlx_torch_ext"]


@pytest.mark.parametrize("use", ["attach()", "status()", "resolve()", "detach()", "Facts()", "__version__"])
def test_every_public_name_is_there_and_needs_no_torch(use: str, tmp_path: Path) -> None:
    assert Site(tmp_path, CPU).call(import_cost.use_without_torch, use)


def test_dir_lists_the_public_names_and_other_names_do_not_exist() -> None:
    import dlx_torch_ext as dlx

    assert sorted(dir(dlx)) == sorted(dlx.__all__)
    assert all(hasattr(dlx, name) for name in dlx.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'atach'"):
        dlx.atach  # noqa: B018


def test_the_entry_point_imports_this_and_no_more(tmp_path: Path) -> None:
    new = set(Site(tmp_path, CPU).call(import_cost.of_the_entry_point_on_a_torch, False))
    assert new == {*PACKAGES, *(f"dlx_torch_ext.{name}" for name in OURS)}


def test_with_a_table_of_torchs_own_it_imports_less(tmp_path: Path) -> None:
    new = set(Site(tmp_path, CPU).call(import_cost.of_the_entry_point_on_a_torch, True))
    ours = (OURS - ONLY_FOR_A_LIBRARY) | {"_locate"}
    assert new == {*PACKAGES, *(f"dlx_torch_ext.{name}" for name in ours)}


@pytest.mark.parametrize("setting", ["DLX_TORCH_AUTOLOAD=0", "DLX_TORCH_DISABLE=1"])
def test_switched_off_it_imports_three_modules(setting: str, tmp_path: Path) -> None:
    name, _, value = setting.partition("=")
    new = set(Site(tmp_path, CPU).call(import_cost.of_the_entry_point, **{name: value}))
    ours = {"_autoload", "_record", "_settings"}
    assert new == {*PACKAGES, *(f"dlx_torch_ext.{name}" for name in ours)}


def test_a_python_without_the_c_api_can_import_it_and_gets_a_reason(tmp_path: Path) -> None:
    provider, reason = Site(tmp_path, CPU).call(import_cost.provider_and_reason_on_another_python)
    assert provider == "none"
    assert "pypy is not CPython" in reason
