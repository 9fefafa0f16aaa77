"""Which files may be opened as a library: their kinds and modes, those of their folders, and links on the way."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest
from dlx_torch_ext import _trust

from tests.support.installation import SYSTEM
from tests.support.left_out import left_out_if

pytestmark = left_out_if(sys.platform == "win32", "Windows has access lists, no owners and modes")


class TestModes:
    def test_a_file_of_our_own(self, library: Path) -> None:
        assert _trust.problem(str(library)) == ""
        assert _trust.problem(str(library.parent), folder=True) == ""

    @pytest.mark.parametrize("name", ["lib.so", ".", ".."])
    def test_everybody_may_write_the_file_its_folder_or_one_above(self, name: str, library: Path) -> None:
        writable = Path(os.path.normpath(library.parent / name))
        writable.chmod(0o777)
        expected = f"{writable} can be written by everybody: chmod go-w {writable}, or use a folder of your own"
        assert _trust.problem(str(library)) == expected

    @pytest.mark.parametrize("name", ["lib.so", ".", ".."])
    def test_a_group_may_write(self, name: str, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_trust, "_is_private", lambda gid, owners: False)
        writable = Path(os.path.normpath(library.parent / name))
        writable.chmod(0o775)
        gid = writable.stat().st_gid
        assert f"{writable} can be written by group {gid}: chmod g-w {writable}" in _trust.problem(str(library))

    def test_a_group_of_one_user_may_write(self, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_trust, "_is_private", lambda gid, owners: True)
        library.chmod(0o664)
        library.parent.chmod(0o775)
        assert _trust.problem(str(library)) == ""

    @left_out_if(SYSTEM != "linux", "only Linux keeps its lists in extended attributes")
    def test_a_list_of_further_users(self, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_trust, "_is_private", lambda gid, owners: True)
        monkeypatch.setattr(os, "listxattr", lambda path, follow_symlinks: ["system.posix_acl_access"])
        assert _trust.problem(str(library)) == "", "a list that lets nobody write"
        library.chmod(0o664)
        assert "can be written by group" in _trust.problem(str(library))

    def test_a_folder_with_the_sticky_bit(self, library: Path) -> None:
        library.parent.chmod(0o1777)
        assert _trust.problem(str(library)) == ""

    def test_a_file_with_the_sticky_bit(self, library: Path) -> None:
        library.chmod(0o1666)
        assert "can be written by everybody" in _trust.problem(str(library))


class TestKinds:
    def test_only_regular_files(self, library: Path) -> None:
        fifo = library.with_name("fifo.so")
        os.mkfifo(fifo, 0o600)
        for path in (fifo, library.parent, Path("/dev/null")):
            assert f"{path} " in _trust.problem(str(path))
        assert _trust.problem(str(fifo)) == f"{fifo} is not a regular file: remove it, or use another path"

    def test_only_folders(self, library: Path) -> None:
        assert "is not a folder" in _trust.problem(str(library), folder=True)

    @pytest.mark.parametrize("path", ["/no/such/file", "/\0", "/\ud800", "/etc/passwd/x", "/" + "x" * 5000])
    def test_what_cannot_be_looked_at(self, path: str) -> None:
        assert "cannot be looked at: " in _trust.problem(path)

    def test_on_windows_only_the_kind(self, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        library.chmod(0o666)
        monkeypatch.setattr(_trust, "os", types.SimpleNamespace(**{**vars(os), "name": "nt"}))
        assert _trust.problem(str(library)) == ""
        assert "is not a regular file" in _trust.problem(str(library.parent))


class TestLinks:
    def test_are_followed(self, library: Path, tmp_path: Path) -> None:
        (tmp_path / "above").symlink_to("cache/../cache/.")
        (library.with_name("link.so")).symlink_to("lib.so")
        (tmp_path / "whole.so").symlink_to(library)
        for path in (tmp_path / "above" / "link.so", tmp_path / "whole.so"):
            assert _trust.problem(str(path)) == ""
        assert _trust.problem(str(tmp_path / "above"), folder=True) == ""

    def test_what_they_lead_through_is_looked_at(self, library: Path, tmp_path: Path) -> None:
        open_to_all = tmp_path / "open"
        open_to_all.mkdir()
        open_to_all.chmod(0o777)
        (open_to_all / "inner.so").symlink_to(library)
        (tmp_path / "outer.so").symlink_to("open/inner.so")
        assert f"{open_to_all} can be written by everybody" in _trust.problem(str(tmp_path / "outer.so"))

    def test_the_file_that_they_lead_to_is_looked_at(self, library: Path, tmp_path: Path) -> None:
        (tmp_path / "link.so").symlink_to(library)
        library.chmod(0o666)
        assert f"{library} can be written by everybody" in _trust.problem(str(tmp_path / "link.so"))

    def test_that_lead_in_a_circle(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        assert "cannot be looked at: Too many levels of symbolic links" in _trust.problem(str(tmp_path / "a"))

    def test_that_lead_to_the_root(self, tmp_path: Path) -> None:
        (tmp_path / "root").symlink_to("/")
        assert _trust.problem(str(tmp_path / "root"), folder=True) == ""
        assert "/ is not a regular file" in _trust.problem(str(tmp_path / "root"))
