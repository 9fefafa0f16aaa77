"""`dlx-torch list`: what fits, the release lines, and with --all every library."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlx_torch_ext import _cache

from tests.support.command import dlx_torch
from tests.support.installation import NO_TORCH, Site, entry, facts, matrix, write_manifest

CPU = [entry("2.9", True, "cpu"), entry("2.9", True, "cuda")]
TORCH_2_9 = "fake_torch.torch(whole=True)"
TORCH_2_13 = "fake_torch.torch_with_own_table('2.13.0')"

LINES = """\
torch  C++ ABI       libraries for
2.4    cxx98, cxx11  cpu, cuda
2.5    cxx98, cxx11  cpu, cuda
2.6    cxx98, cxx11  cpu, cuda
2.7    cxx11         cpu, cuda
2.8    cxx11         cpu, cuda
2.9    cxx11         cpu, cuda
2.13   cxx11         cpu, cuda (DLX_TORCH_PREFER=dlx)
any    any           torch_npu (over torch's own table)

cxx11, cxx98: the newer and the older C++ ABI (torch.compiled_with_cxx11_abi())
"""


def installed(folder: Path, torch: str) -> Site:
    site = Site(folder, None, torch)
    write_manifest(site.package, [*matrix(), entry(None, None, "torch_npu", "overlay")])
    return site


def test_what_fits_comes_first_and_a_release_line_takes_a_line(tmp_path: Path) -> None:
    finished = dlx_torch(installed(tmp_path, TORCH_2_9), "list")
    assert finished.status == 0, str(finished)
    assert finished.stdout == f"* torch2.9-cxx11-cpu\n\n{LINES}torch2.9-cxx11-cpu fits torch 2.9.1+cpu\n"


def test_beside_torchs_own_table_it_says_what_ours_would_be(tmp_path: Path) -> None:
    finished = dlx_torch(installed(tmp_path, TORCH_2_13), "list")
    assert finished.stdout == (
        f"{LINES}torch 2.13.0 has its own table\nDLX_TORCH_PREFER=dlx takes torch2.13-cxx11-cpu in its place\n"
    )


def test_abis_with_different_libraries_take_a_line_each(tmp_path: Path) -> None:
    site = Site(tmp_path, None, TORCH_2_9)
    write_manifest(site.package, [entry("2.5", False, "cpu"), entry("2.5", True, "cpu"), entry("2.5", True, "cuda")])
    lines = dlx_torch(site, "list").stdout.splitlines()
    assert lines[1:3] == ["2.5    cxx98         cpu", "2.5    cxx11         cpu, cuda"]


def test_all_marks_the_one_that_fits(tmp_path: Path) -> None:
    finished = dlx_torch(Site(tmp_path, CPU, TORCH_2_9), "list", "--all")
    assert finished.status == 0
    assert finished.stdout.splitlines()[:3] == ["* torch2.9-cxx11-cpu", "  torch2.9-cxx11-cuda", ""]
    assert finished.stdout.splitlines()[-1] == "torch2.9-cxx11-cpu fits torch 2.9.1+cpu"


def test_what_was_built_here_is_listed_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, CPU, TORCH_2_9)
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(_cache, "revision", lambda: "")  # as in the site, which has no sources
    library = cache / _cache.file_name(facts(), "cpu")
    library.touch()
    finished = dlx_torch(site, "list", DLX_TORCH_CACHE_DIR=str(cache), COLUMNS="300")
    assert f"* torch2.9.1+cpu-cxx11-cpu, built here: {library}" in finished.stdout.splitlines()


@pytest.mark.parametrize("arguments", [["list"], ["list", "--all"]])
@pytest.mark.parametrize("torch", [NO_TORCH, TORCH_2_13, "fake_torch.torch('2.2.0')"])
def test_nothing_is_marked_where_nothing_is_taken(torch: str, arguments: list[str], tmp_path: Path) -> None:
    finished = dlx_torch(Site(tmp_path, CPU, torch), *arguments)
    assert finished.status == 0
    assert "*" not in finished.stdout
    assert finished.stdout.splitlines()[-1]


def test_pure_installation(tmp_path: Path) -> None:
    listed = dlx_torch(Site(tmp_path, None, TORCH_2_9), "list")
    assert listed.status == 1
    assert listed.stderr.startswith("dlx-torch: this installation of dlx-torch-ext is pure Python")
    assert len(listed.stderr.splitlines()) == 1
