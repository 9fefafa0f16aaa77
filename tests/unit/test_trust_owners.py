"""Whose files may be opened as a library, and which groups may write: as root with real owners, and for everybody with
owners that are made up."""

from __future__ import annotations

import os
import stat
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _trust

from tests.support.left_out import left_out_if

pytestmark = left_out_if(sys.platform == "win32", "Windows has access lists, no owners and modes")

ME, SOMEBODY, NOBODY = 1000, 2000, 65534
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

Owned = Callable[..., None]


@pytest.fixture
def owned(monkeypatch: pytest.MonkeyPatch) -> Owned:
    """Makes up who this process is, and who owns a path; everything else is root's, like the package."""

    def make_up(owners: dict[Path, int], user: int = ME, root: int = 0) -> None:
        real = os.lstat
        by_path = {"/": root, **{str(path): uid for path, uid in owners.items()}}

        def lstat(path: Any) -> os.stat_result:
            found = list(real(path))
            found[stat.ST_UID] = by_path.get(str(path), root)
            return os.stat_result(found)

        monkeypatch.setattr(os, "lstat", lstat)
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(_trust, "_PACKAGE", "/usr")

    return make_up


class TestOwners:
    @pytest.mark.parametrize("user", [ME, 0])
    def test_this_user_and_root(self, user: int, library: Path, owned: Owned) -> None:
        owned({library: user, library.parent: 0}, user)
        assert _trust.problem(str(library)) == ""

    @pytest.mark.parametrize("user", [ME, 0])
    @pytest.mark.parametrize("name", ["lib.so", ".", ".."])
    def test_somebody_else(self, name: str, user: int, library: Path, owned: Owned) -> None:
        theirs = Path(os.path.normpath(library.parent / name))
        owned({library: user, library.parent: user, theirs: SOMEBODY}, user)
        assert _trust.problem(str(library)) == (
            f"{theirs} belongs to user {SOMEBODY}, who could change it: make it your own (chown), or use a folder of"
            " your own"
        )

    def test_the_owner_of_the_package(
        self, library: Path, owned: Owned, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        owned({library: SOMEBODY})
        assert "belongs to user 2000" in _trust.problem(str(library))
        monkeypatch.setattr(_trust, "_trusted_owners", lambda: {ME, 0, SOMEBODY})
        assert _trust.problem(str(library)) == ""

    def test_a_link_of_somebody_else(self, library: Path, owned: Owned, tmp_path: Path) -> None:
        link = tmp_path / "link.so"
        link.symlink_to(library)
        owned({library: ME, library.parent: ME, link: SOMEBODY})
        assert f"{link} belongs to user 2000" in _trust.problem(str(link))

    def test_root_under_another_number_owns_upper_folders_only(self, library: Path, owned: Owned) -> None:
        owned({library: ME, library.parent: ME}, root=NOBODY)
        assert _trust.problem(str(library)) == ""
        assert _trust.problem(str(library.parent), folder=True) == ""
        for theirs in (library, library.parent):
            owned({library: ME, library.parent: ME, theirs: NOBODY}, root=NOBODY)
            assert f"{theirs} belongs to user {NOBODY}" in _trust.problem(str(library))
        owned({library: ME}, root=NOBODY)
        assert "belongs to user" in _trust.problem(str(library.parent), folder=True)

    def test_the_package_itself_is_not_looked_at(
        self, library: Path, owned: Owned, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        owned({library: SOMEBODY})
        monkeypatch.setattr(_trust, "_PACKAGE", str(library.parent))
        assert _trust.problem(str(library)) == ""
        monkeypatch.setattr(_trust, "_PACKAGE", str(library.parent)[:-1])
        assert _trust.problem(str(library)) != "", "a folder whose name begins so is another one"


@left_out_if(not IS_ROOT, "only root can give files to somebody else")
class TestRealOwners:
    @pytest.mark.parametrize("name", ["lib.so", ".", ".."])
    def test_somebody_else_also_for_root(self, name: str, library: Path) -> None:
        theirs = Path(os.path.normpath(library.parent / name))
        os.chown(theirs, SOMEBODY, SOMEBODY)
        assert f"{theirs} belongs to user {SOMEBODY}" in _trust.problem(str(library))

    def test_the_owner_of_the_package(self, library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        package = tmp_path / "package"
        package.mkdir()
        for path in (library, library.parent, package):
            os.chown(path, SOMEBODY, SOMEBODY)
        monkeypatch.setattr(_trust, "_PACKAGE", str(package))
        assert _trust.problem(str(library)) == ""

    def test_a_package_inside_an_archive_has_no_owner(self, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_trust, "_PACKAGE", str(library / "dlx_torch_ext"))
        assert _trust.problem(str(library)) == ""


class TestPrivateGroups:
    """useradd gives each user a group of the same name, with nobody else in it."""

    @pytest.fixture
    def accounts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        groups = {
            ME: ("me", []),
            1001: ("project", ["me"]),
            100: ("users", []),
            SOMEBODY: ("somebody", []),
            1004: ("shared", ["shared", "somebody"]),
            1005: ("moved", []),
        }
        users = {"me": (ME, ME), "somebody": (SOMEBODY, SOMEBODY), "shared": (ME, 1004), "moved": (ME, 100)}

        def getgrgid(gid: int) -> Any:
            return types.SimpleNamespace(gr_name=groups[gid][0], gr_mem=groups[gid][1])

        def getpwnam(name: str) -> Any:
            return types.SimpleNamespace(pw_name=name, pw_uid=users[name][0], pw_gid=users[name][1])

        monkeypatch.setitem(sys.modules, "grp", types.SimpleNamespace(getgrgid=getgrgid))
        monkeypatch.setitem(sys.modules, "pwd", types.SimpleNamespace(getpwnam=getpwnam))

    @pytest.mark.usefixtures("accounts")
    @pytest.mark.parametrize(
        ("gid", "private"),
        [(ME, True), (1001, False), (100, False), (SOMEBODY, False), (1004, False), (1005, False), (4711, False)],
    )
    def test_by_its_name_and_its_members(self, gid: int, private: bool) -> None:
        assert _trust._is_private(gid, {ME, 0}) is private

    def test_on_a_system_without_accounts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "grp", None)
        assert not _trust._is_private(0, {0})
