"""Damaged files of ours: `import torch` never fails, and whoever calls us gets an ImportError or what still works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snippets import damaged
from tests.support.installation import Site, entry

# torch imports it before any line of ours runs. It may be empty; nothing can be done if it is not Python.
ENTRY = "dlx_torch_ext_autoload/__init__.py"
# A caller imports it before any line of ours runs.
FIRST = "dlx_torch_ext/__init__.py"
TORCH = "fake_torch.torch(whole=True)"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, [entry("2.9", True, "cpu")], TORCH)


def test_nothing_is_said_of_whole_modules(site: Site) -> None:
    assert site.call(damaged.use_without, "dlx_torch_ext/_cli") == {"warnings": [], "attached": "dlx"}


@pytest.mark.parametrize("damage", damaged.DAMAGES)
@pytest.mark.fault(
    "each module of ours: empty, zeros, cut off, missing", "`import torch` ends; a warning or the reason"
)
def test_import_torch_never_fails(damage: str, site: Site) -> None:
    seen = site.call(damaged.use_each, damage, [] if damage == "empty" else [ENTRY])
    assert len(seen) > 20
    for name, answer in seen.items():
        whole = answer.get("attached") == "dlx"
        said = "error" in answer or answer.get("attached") == "none"
        assert whole or said, (name, answer)
        assert all(text.startswith("RuntimeWarning: dlx-torch-ext is damaged") for text in answer["warnings"]), name
        assert "\n" not in "".join(answer["warnings"]) + answer.get("error", ""), name
        if "error" in answer and name != FIRST:
            assert answer["error"].startswith("ImportError: dlx-torch-ext is damaged ("), name
    assert seen[FIRST]["warnings"] or damage in ("empty", "missing"), "`import torch` needs nothing of it"
    assert seen["dlx_torch_ext/_attach.py"]["warnings"]


def test_import_torch_does_not_fail_where_only_the_entry_point_is_left(site: Site) -> None:
    answer = site.call(damaged.use_without, "dlx_torch_ext")
    (warning,) = answer["warnings"]
    assert warning.startswith("RuntimeWarning: dlx-torch-ext is damaged and attaches nothing (ModuleNotFoundError: ")
    assert warning.endswith("reinstall or uninstall it")


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("_cli/report.py", "ImportError: cannot import name 'collect'"),
        ("_cache.py", "AttributeError: module 'dlx_torch_ext._cache' has no attribute 'built_for'"),
    ],
)
def test_the_command_says_so_too(module: str, problem: str, site: Site) -> None:
    (site.package / module).write_bytes(b"")
    done = site.cli("doctor")
    assert done.status == 1
    assert done.stderr.startswith(f"dlx-torch: dlx-torch-ext is damaged ({problem}")
    assert done.stderr.count("is damaged") == done.stderr.count("\n") == 1
