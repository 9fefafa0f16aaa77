"""What an import brings along: of this package, nothing of torch; of the entry point, only what is listed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installation import Site, entry

CPU = [entry("2.9", True, "cpu")]

# Everything torch itself has imported by the time it calls its extensions, so that none of it is a cost of ours.
BY_TORCH = "__future__, ctypes, functools, importlib.metadata, importlib.util, json, re, struct, threading, typing"

OURS = {
    *("_attach", "_autoload", "_cache", "_capsule", "_dlpack", "_elf", "_facts", "_layout", "_load", "_record"),
    *("_release", "_resolve", "_selftest", "_settings", "_variants"),
}


# Where torch has a table of its own, no library is looked at.
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


def test_all_names_are_public_and_others_are_not() -> None:
    import dlx_torch_ext as dlx

    assert sorted(dir(dlx)) == sorted(dlx.__all__)
    assert all(hasattr(dlx, name) for name in dlx.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'atach'"):
        dlx.atach  # noqa: B018


PREPARED = "from tests.support import fake_torch; sys.modules['torch'] = fake_torch.torch(whole=True)"
FIRE = "from dlx_torch_ext._autoload import autoload; autoload()"


def test_the_entry_point_imports_this_and_no_more(tmp_path: Path) -> None:
    # The fake's own imports come first and are not counted.
    code = f"{PREPARED}; sys.modules.pop('dlx_torch_ext', None); before = set(sys.modules); {FIRE}"
    new = imported(Site(tmp_path, CPU), code)
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in OURS)}


def test_beside_torchs_own_table_it_imports_less(tmp_path: Path) -> None:
    prepared = PREPARED.replace("fake_torch.torch(whole=True)", "fake_torch.torch_with_own_table('2.13.0')")
    code = f"{prepared}; [sys.modules.pop(m) for m in list(sys.modules) if m.startswith('dlx_torch_ext')]"
    new = imported(Site(tmp_path, CPU), f"{code}; before = set(sys.modules); {FIRE}")
    ours = (OURS - ONLY_FOR_A_LIBRARY) | {"_locate"}
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in ours)}


@pytest.mark.parametrize("setting", ["DLX_TORCH_AUTOLOAD=0", "DLX_TORCH_DISABLE=1"])
def test_switched_off_it_imports_next_to_nothing(setting: str, tmp_path: Path) -> None:
    name, _, value = setting.partition("=")
    new = imported(Site(tmp_path, CPU), f"before = set(sys.modules); {FIRE}", **{name: value})
    ours = {"_autoload", "_record", "_settings"}
    assert new == {"dlx_torch_ext", *(f"dlx_torch_ext.{name}" for name in ours)}


def test_a_python_without_the_c_api_imports_and_says_so(tmp_path: Path) -> None:
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
