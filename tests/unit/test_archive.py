"""The package inside a zip archive: all works except what needs a library, and the reason for that is the archive."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.snippets import on_fake_torch
from tests.support.installation import Site, entry

TORCH = "fake_torch.torch(whole=True)"


@pytest.fixture
def zipped(tmp_path: Path) -> Site:
    """An installation whose package is in an archive; its torch, which calls it at import, is outside."""
    site = Site(tmp_path / "site", [entry("2.9", True, "cpu")], TORCH)
    (tmp_path / "packed").mkdir()
    site.package.rename(tmp_path / "packed" / "dlx_torch_ext")
    shutil.make_archive(str(tmp_path / "app"), "zip", tmp_path / "packed")
    return site


def path(site: Site) -> str:
    """sys.path of a child process: the archive, what is outside, and the tests."""
    return f"{site.folder.parent / 'app.zip'}{os.pathsep}{(site.environment({}) or {})['PYTHONPATH']}"


def test_import_torch_works_and_the_status_says_why_there_is_no_table(zipped: Site) -> None:
    provider, reason = zipped.call(on_fake_torch.provider_and_reason, PYTHONPATH=path(zipped))
    assert provider == "none"
    assert reason.startswith(f"dlx_torch_ext is imported from the archive {zipped.folder.parent / 'app.zip'}, and")


@pytest.mark.parametrize(
    "command", ["doctor", "doctor --all", "doctor --json", "doctor --selftest", "list", "list --all"]
)
def test_a_command_says_so_too(command: str, zipped: Site) -> None:
    finished = zipped.cli(*command.split(), PYTHONPATH=path(zipped), COLUMNS="1000")
    assert finished.status == 1, str(finished)
    assert "imported from the archive" in finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr


def test_explain_reads_its_page(zipped: Site) -> None:
    finished = zipped.cli("explain", "DLX035", PYTHONPATH=path(zipped))
    assert finished.status == 0, str(finished)
    assert finished.stdout.startswith("DLX035: dlx_torch_ext is imported from the archive")


def test_build_asks_for_an_installation_outside(zipped: Site) -> None:
    finished = zipped.cli("build", PYTHONPATH=path(zipped))
    assert finished.status == 1, str(finished)
    assert f"install it outside of the archive {zipped.folder.parent / 'app.zip'}" in finished.stderr


def test_a_library_outside_can_be_named(zipped: Site, tmp_path: Path) -> None:
    variant = entry("2.9", True, "cpu")
    library = Site(tmp_path / "other", [variant]).package / "_lib" / variant["file"]
    named = {"DLX_TORCH_LIBRARY": str(library), "PYTHONPATH": path(zipped)}
    assert zipped.call(on_fake_torch.provider_and_reason, **named)[0] == "dlx"
