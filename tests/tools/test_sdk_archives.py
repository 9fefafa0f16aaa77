"""An SDK is made of archives that others have made: nothing of them is written outside its folder, and nothing is
used that sdk.sums does not list."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools.sdk import fetch, index, members, rocm
from tools.settings import ToolError

RELEASE = "2.9.1"
GOOD = {"torch/include/c10/core/Device.h": b"// a header", "torch/version.py": b"__version__ = '2.9.1'"}

Archive = Callable[..., index.Wheel]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """Makes a wheel with these members, which the index then offers for every question."""

    def make(content: dict[Any, bytes]) -> index.Wheel:
        path = tmp_path / "torch-2.9.1-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as new:
            for name, data in content.items():
                new.writestr(name, data)
        wheel = index.Wheel("torch", path.as_uri(), hashlib.sha256(path.read_bytes()).hexdigest())
        monkeypatch.setattr(index, "find", lambda *_, **__: wheel)
        return wheel

    return make


@pytest.fixture(autouse=True)
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of ./dev, deep enough for names that lead out of it; and an empty sdk.sums."""
    folder = tmp_path / "a" / "b" / "c" / "dev"
    monkeypatch.setenv("DLX_DEV_DIR", str(folder))
    monkeypatch.setattr(fetch, "_SUMS", tmp_path / "sdk.sums")
    return folder


def written(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock"}


class TestSums:
    def test_a_release_that_is_not_listed_is_not_even_looked_for(
        self, monkeypatch: pytest.MonkeyPatch, dev: Path
    ) -> None:
        monkeypatch.setattr(index, "find", lambda *_, **__: pytest.fail("the index was asked"))
        with pytest.raises(ToolError, match=r"has no digest of the SDK of torch 2.9.1 \(x86_64\).* --record"):
            fetch.fetch(RELEASE, "x86_64")
        assert written(dev) == set()

    def test_a_release_is_listed_for_one_processor(self, archive: Archive) -> None:
        archive(GOOD)
        fetch.fetch(RELEASE, "x86_64", record=True)
        with pytest.raises(ToolError, match="has no digest of the SDK"):
            fetch.fetch(RELEASE, "x64")

    def test_recording_lists_it(self, archive: Archive, dev: Path) -> None:
        archive(GOOD)
        folder = fetch.fetch(RELEASE, "x86_64", record=True)
        assert written(folder) == {*GOOD, "sdk.json"}
        shutil.rmtree(folder)
        assert fetch.fetch(RELEASE, "x86_64") == folder

    @pytest.mark.parametrize(
        "change",
        [{"torch/version.py": b"changed"}, {"torch/include/more.h": b""}, {"torch/include/sdk.json": b"{}"}],
    )
    def test_another_content_than_the_listed_one_is_not_used(
        self, change: dict[str, bytes], archive: Archive, dev: Path
    ) -> None:
        archive(GOOD)
        folder = fetch.fetch(RELEASE, "x86_64", record=True)
        shutil.rmtree(folder)
        archive({**GOOD, **change})
        with pytest.raises(ToolError, match="the wheel has changed"):
            fetch.fetch(RELEASE, "x86_64")
        assert not folder.exists()


class TestMembers:
    @pytest.mark.parametrize(
        "name",
        [
            "torch/include/../../../../../escaped.h",
            "torch/include/../../../sdk-x64/2.9.1/torch/version.py",
            "torch/include/x/../y.h",
            "torch/include//etc/escaped.h",
            "torch/include/C:/escaped.h",
            "torch/include/..\\..\\escaped.h",
        ],
    )
    def test_names_that_lead_out(self, name: str, archive: Archive, tmp_path: Path, dev: Path) -> None:
        archive({**GOOD, name: b"hostile"})
        before = written(tmp_path)
        with pytest.raises(ToolError, match=r"torch-2.9.1.*leads out of the folder: do not use this archive"):
            fetch.fetch(RELEASE, "x86_64", record=True)
        assert written(tmp_path) == before, "not even the good members"

    @pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFDIR])
    def test_links_and_devices(self, kind: int, archive: Archive, dev: Path) -> None:
        hostile = zipfile.ZipInfo("torch/include/link.h")
        hostile.external_attr = (kind | 0o644) << 16
        archive({**GOOD, hostile: b"/etc/passwd"})
        with pytest.raises(ToolError, match=r"'torch/include/link.h' is no regular file: do not use this archive"):
            fetch.fetch(RELEASE, "x86_64", record=True)
        assert written(dev) == set()

    @pytest.mark.parametrize("name", ["", "/", "/a", "a/", "../a", "a/..", "./a", "a//b", "a\\b", "c:a", "a\0b"])
    def test_what_is_not_below(self, name: str) -> None:
        assert not members.is_below(name)

    @pytest.mark.parametrize("name", ["a", "a/b.h", "...", "a/..b", "a b"])
    def test_what_is_below(self, name: str) -> None:
        assert members.is_below(name)


class TestHashes:
    def test_a_local_wheel_is_compared_before_it_is_opened(self, archive: Archive, tmp_path: Path) -> None:
        wheel = archive(GOOD)
        with (tmp_path / wheel.filename).open("ab") as file:
            file.write(b"more")
        with pytest.raises(ToolError, match=r"its sha256 is \w+, the index says \w+. The file is damaged"):
            index.open_wheel(wheel, tmp_path)

    @pytest.mark.parametrize("end", ["..%2F..%2Fescaped.whl", "..", "", "a.zip", "a%5C..%5Cb.whl", "C:b.whl"])
    def test_an_address_does_not_choose_the_folder(self, end: str) -> None:
        wheel = index.Wheel("torch", f"https://example.org/packages/{end}", "")
        if end.startswith("..%2F"):
            assert wheel.filename == "escaped.whl"
            return
        with pytest.raises(ToolError, match="is not that of a wheel"):
            wheel.filename  # noqa: B018

    def test_hipify_runs_only_from_the_wheel_that_the_sdk_is_from(self, archive: Archive, tmp_path: Path) -> None:
        wheel = archive({**GOOD, "torch/utils/hipify/hipify_python.py": b""})
        torch = tmp_path / "sdk" / "torch"
        torch.mkdir(parents=True)
        sdk = {"torch": RELEASE, "arch": "x86_64", "sha256": wheel.sha256}
        (torch.parent / "sdk.json").write_text(json.dumps(sdk))
        utils = rocm._find_hipify(torch, tmp_path / "scratch")
        assert written(utils) == {"hipify/hipify_python.py"}
        archive({**GOOD, "torch/utils/hipify/hipify_python.py": b"hostile"})
        with pytest.raises(ToolError, match="another wheel of torch"):
            rocm._find_hipify(torch, tmp_path / "other")
        assert not (tmp_path / "other").exists()
