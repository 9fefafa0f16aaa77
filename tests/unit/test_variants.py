"""The names of rows and libraries; reading the manifest, also a damaged one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext._variants import human_name, library_file, read_manifest, row_directory

from tests.support import installation


@pytest.mark.parametrize(
    ("system", "file"),
    [("linux", "libdlx_torch_cuda.so"), ("macos", "libdlx_torch_cuda.dylib"), ("windows", "dlx_torch_cuda.dll")],
)
def test_library_file(system: str, file: str) -> None:
    assert library_file("cuda", system) == file


def test_names_of_rows_and_names_for_people() -> None:
    assert row_directory("2.9", True) == "torch2_9_cxx11"
    assert row_directory("2.5", False) == "torch2_5_cxx98"
    assert row_directory(None, None) == "overlay"
    assert all(row_directory(x, y).isidentifier() for x in ("2.4", "2.15") for y in (True, False))
    # A file system may take A for a.
    assert all(row_directory(x, y).islower() for x in ("2.4", "2.15", None) for y in (True, False))
    assert human_name("2.9", True, "cuda") == "torch2.9-cxx11-cuda"
    assert human_name("2.5", False, "torch_npu") == "torch2.5-cxx98-torch_npu"
    assert human_name(None, None, "torch_npu") == "overlay-torch_npu"


def test_a_manifest_is_read(tmp_path: Path) -> None:
    entries = [
        installation.entry("2.5", False, "cpu"),
        installation.entry("2.13", True, "cuda", "prefer"),
        installation.entry(None, None, "torch_npu", "overlay"),
    ]
    folder = installation.write_manifest(tmp_path, entries)
    manifest = read_manifest([str(folder)])
    assert (manifest.problem, manifest.platform, manifest.version) == ("", installation.PLATFORM, "0.1.0")
    assert [v.name for v in manifest.variants] == ["torch2.5-cxx98-cpu", "torch2.13-cxx11-cuda", "overlay-torch_npu"]
    assert [v.serves for v in manifest.variants] == ["default", "prefer", "overlay"]
    assert [Path(v.path) for v in manifest.variants] == [folder / "_lib" / e["file"] for e in entries]


@pytest.mark.parametrize("platform", ["linux-aarch64", "macos-arm64", "windows-x64"])
def test_file_names_follow_the_platform_of_the_manifest(platform: str, tmp_path: Path) -> None:
    file = library_file("cpu", platform.partition("-")[0])
    entry = {**installation.entry("2.9", True, "cpu"), "file": f"torch2_9_cxx11/{file}"}
    manifest = read_manifest([str(installation.write_manifest(tmp_path, [entry], platform))])
    assert [Path(v.path).name for v in manifest.variants] == [file]


def test_the_first_folder_with_a_manifest_is_used(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "file").write_text("")
    installation.write_manifest(tmp_path / "site", [installation.entry("2.9", True, "cpu")])
    installation.write_manifest(tmp_path / "other", [])
    path = [str(tmp_path / name) for name in ("missing", "file", "source", "site", "other")]
    assert [v.name for v in read_manifest(path).variants] == ["torch2.9-cxx11-cpu"]


def test_a_pure_installation_says_how_to_get_libraries(tmp_path: Path) -> None:
    manifest = read_manifest([str(tmp_path)])
    assert manifest.variants == ()
    assert "DLX_TORCH_BUILD_NATIVE=1" in manifest.problem
    assert "wheel" in manifest.problem


def test_inside_an_archive_the_reason_is_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "app.zip"
    archive.write_bytes(b"PK")
    for inside in ("dlx_torch_ext", "site-packages/dlx_torch_ext"):
        problem = read_manifest([str(archive / inside)]).problem
        assert f"imported from the archive {archive}, and" in problem
        assert "pure Python" not in problem


def test_the_reason_of_a_frozen_app_is_its_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    problem = read_manifest([str(tmp_path)]).problem
    assert "PyInstaller" in problem
    assert "pure Python" not in problem


GOOD = installation.entry("2.9", True, "cpu")
WHOLE = {"schema": 1, "version": "0.1.0", "platform": installation.PLATFORM, "variants": [GOOD]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Expecting value"),
        ("{", "Expecting"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        (json.dumps({**WHOLE, "schema": 2}), "schema 2 is not 1"),
        (json.dumps({**WHOLE, "schema": None}), "schema None is not 1"),
        (json.dumps({k: v for k, v in WHOLE.items() if k != "platform"}), "platform, version or variants"),
        (json.dumps({**WHOLE, "variants": {}}), "platform, version or variants"),
        (json.dumps({**WHOLE, "variants": [1]}), "is not an object"),
        *(
            (json.dumps({**WHOLE, "variants": [{**GOOD, **wrong}]}), "variant")
            for wrong in (
                {"backend": None},
                {"serves": "nobody"},
                {"torch": None},
                {"torch": 2.9},
                {"cxx11_abi": None},
                {"cxx11_abi": 1},
                {"row": "torch2_8_cxx11"},
                {"file": "../../evil.so"},
                {"file": "torch2_9_cxx11/other.so"},
                {"serves": "overlay"},
            )
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_is_a_problem(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "_lib").mkdir()
    (tmp_path / "_lib" / "manifest.json").write_text(content)
    manifest = read_manifest([str(tmp_path)])
    assert manifest.variants == ()
    assert words in manifest.problem
    assert "reinstall" in manifest.problem
    assert "\n" not in manifest.problem


def test_a_manifest_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "_lib").mkdir()
    (tmp_path / "_lib" / "manifest.json").write_bytes(b"\xff\xfe\x00{")
    assert "reinstall" in read_manifest([str(tmp_path)]).problem


def test_a_manifest_that_is_a_folder_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "_lib" / "manifest.json").mkdir(parents=True)
    assert "reinstall" in read_manifest([str(tmp_path)]).problem


def test_the_packages_own_path_is_the_default(install_variants: Any) -> None:
    install_variants([GOOD], libraries=False)
    assert [v.name for v in read_manifest().variants] == ["torch2.9-cxx11-cpu"]
