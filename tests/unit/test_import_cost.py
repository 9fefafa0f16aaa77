"""Which modules are imported: by `import dlx_torch_ext` no other one; by the entry point only those listed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installation import Site, entry

CPU = [entry("2.9", True, "cpu")]

# torch itself has imported these before it calls its extensions, so they cost us nothing.
BY_TORCH = "__future__, ctypes, functools, importlib.metadata, importlib.util, json, re, struct, threading, typing"

OURS = {
    *("_attach", "_autoload", "_cache", "_capsule", "_dlpack", "_elf", "_facts", "_layout", "_load", "_record"),
    *("_release", "_resolve", "_selftest", "_settings", "_variants"),
}


# Not imported if torch has a table of its own, because then no library is loaded.
ONLY_FOR_A_LIBRARY = {"_elf", "_layout", "_load", "_selftest"}


def imported(site: Site, code: str, **env: str | None) -> set[str]:
    program = f"import json, sys\nimport {BY_TORCH}\nbefore = set(sys.modules)\n{code}\n"
    finished = site.run(program + "print(json.dumps(sorted(set(sys.modules) - before)))", **env)
    return set(finished.value)


def test_the_package_imports_nothing_else(tmp_path: Path) -> None:
    assert imported(Site(tmp_path, CPU), "import dlx_torch_ext") == {"dlx_torch_ext"}


@pytest.mark.parametrize("use", ["attach()", "status()", "resolve()", "detach()", "Facts()", "__version__"])
def test_every_public_name_is_there_and_needs_no_torch(use: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules['torch'] = None; import dlx_torch_ext as dlx; print(repr(str(dlx.{use})))"
    finished = Site(tmp_path, CPU).run(code)
    assert finished.status == 0, str(finished)


def test_dir_lists_the_public_names_and_other_names_do_not_exist() -> None:
    import dlx_torch_ext as dlx

    assert sorted(dir(dlx)) == sorted(dlx.__all__)
    assert all(hasattr(dlx, name) for name in dlx.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'atach'"):
        dlx.atach  # noqa: B018


PREPARED = "from tests.support import fake_torch; sys.modules['torch'] = fake_torch.torch(whole=True)"
FIRE = "from dlx_torch_ext._autoload import autoload; autoload()"


def test_the_entry_point_imports_this_and_no_more(tmp_path: Path) -> None:
    # What the fake torch imports comes first and is not counted.
    code = f"{PREPARED}; sys.modules.pop('dlx_torch_ext', None); before = set(sys.modules); {FIRE}"
    new = imported(Site(tmp_path, CPU), code)
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in OURS)}


def test_with_a_table_of_torchs_own_it_imports_less(tmp_path: Path) -> None:
    prepared = PREPARED.replace("fake_torch.torch(whole=True)", "fake_torch.torch_with_own_table('2.13.0')")
    code = f"{prepared}; [sys.modules.pop(m) for m in list(sys.modules) if m.startswith('dlx_torch_ext')]"
    new = imported(Site(tmp_path, CPU), f"{code}; before = set(sys.modules); {FIRE}")
    ours = (OURS - ONLY_FOR_A_LIBRARY) | {"_locate"}
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in ours)}


@pytest.mark.parametrize("setting", ["DLX_TORCH_AUTOLOAD=0", "DLX_TORCH_DISABLE=1"])
def test_switched_off_it_imports_three_modules(setting: str, tmp_path: Path) -> None:
    name, _, value = setting.partition("=")
    new = imported(Site(tmp_path, CPU), f"before = set(sys.modules); {FIRE}", **{name: value})
    ours = {"_autoload", "_record", "_settings"}
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in ours)}


def test_a_python_without_the_c_api_can_import_it_and_gets_a_reason(tmp_path: Path) -> None:
    code = """
    import ctypes, json, sys
    del ctypes.pythonapi
    sys.implementation.name = "pypy"
    from tests.support import fake_torch
    sys.modules["torch"] = fake_torch.torch()
    import dlx_torch_ext as dlx
    print(json.dumps([dlx.attach().provider, dlx.status().reason]))
    """
    provider, reason = Site(tmp_path, CPU).run(code).value
    assert provider == "none"
    assert "pypy is not CPython" in reason
