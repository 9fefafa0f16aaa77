"""Says whether a library outside the package may be opened, that is, whether nobody else can have put it there.

A library runs code as soon as it is opened, in root's processes too. So for a library of the cache, and for the one
that DLX_TORCH_LIBRARY names, every folder and link on the way to the file is looked at, and the file itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

_MAX_LINKS = 40  # as many as Linux follows
_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def problem(path: str, *, folder: bool = False) -> str:
    """Why the file at the absolute `path` must not be opened as a library, or "": what is wrong with which file, and
    what to do. With `folder`: why no library in the folder `path` may be. Never raises, and opens nothing.

    Trusted are this user, root, and the owner of the package, who can change this module anyway. Where a container has
    user namespaces, root has another number, and owns "/": that is enough for the upper folders. Nobody else may write
    there; to a folder with the sticky bit they may, since they cannot replace there what is not theirs.

    The way is looked at from "/" down, and nobody else can change what has passed, so the loader finds the same. It is
    not given /proc/self/fd/N: glibc takes libraries of one name for one, and status() and debuggers show the name.
    """
    if path.startswith(os.path.join(_PACKAGE, "")):
        return ""  # it is trusted as this module is
    try:
        if os.name == "nt":  # access lists, which say who may write on Windows, are not looked at
            return _problem_of_kind(path, os.stat(path), folder)
        return _first_problem(list(_way_to(path)), folder)
    except (OSError, ValueError) as error:
        return f"{getattr(error, 'filename', None) or path} cannot be looked at: {getattr(error, 'strerror', error)}"


def _way_to(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """The folders and links on the way from "/", each with its lstat; last the file that the way ends at."""
    at, links, rest = "/", 0, path.split("/")[::-1]
    yield at, os.lstat(at)
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        here = os.path.dirname(at) if name == ".." else os.path.join(at, name)
        state = os.lstat(here)
        yield here, state
        if not stat.S_ISLNK(state.st_mode):
            at = here
            continue
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        target = os.readlink(here)
        rest += target.split("/")[::-1]
        if target.startswith("/"):
            at = "/"
            yield at, os.lstat(at)


def _first_problem(way: list[tuple[str, os.stat_result]], folder: bool) -> str:
    end, state = way[-1]
    owners = _trusted_owners()
    strict = (end,) if folder else (end, os.path.dirname(end))
    for here, found in way:
        if found.st_uid not in (owners if here in strict else owners | {way[0][1].st_uid}):
            return (
                f"{here} belongs to user {found.st_uid}, who could change it: make it your own (chown), or use a"
                " folder of your own"
            )
        writers, change = _other_writers(here, found, owners)
        if writers:
            return f"{here} can be written by {writers}: chmod {change} {here}, or use a folder of your own"
    return _problem_of_kind(end, state, folder)


def _problem_of_kind(path: str, state: os.stat_result, folder: bool) -> str:
    if (stat.S_ISDIR if folder else stat.S_ISREG)(state.st_mode):
        return ""
    return f"{path} is not a {'folder' if folder else 'regular file'}: remove it, or use another path"


def _trusted_owners() -> set[int]:
    owners = {os.geteuid(), 0}
    with contextlib.suppress(OSError):  # the package may be inside an archive
        owners.add(os.stat(_PACKAGE).st_uid)
    return owners


def _other_writers(path: str, state: os.stat_result, owners: set[int]) -> tuple[str, str]:
    """Who else can write there, and the mode for chmod that ends it; "" if nobody can."""
    if stat.S_ISLNK(state.st_mode):  # a link has no mode, and who may replace it is decided by its folder
        return "", ""
    if stat.S_ISDIR(state.st_mode) and state.st_mode & stat.S_ISVTX:
        return "", ""
    if state.st_mode & stat.S_IWOTH:
        return "everybody", "go-w"
    if state.st_mode & stat.S_IWGRP and (_has_access_list(path) or not _is_private(state.st_gid, owners)):
        return f"group {state.st_gid}", "g-w"
    return "", ""


def _has_access_list(path: str) -> bool:
    """Whether Linux lists further users for this file. The mode of the group then says what the strongest may do."""
    try:
        return "system.posix_acl_access" in os.listxattr(path, follow_symlinks=False)
    except (AttributeError, OSError):  # on other systems; on file systems without such lists
        return False


def _is_private(gid: int, owners: set[int]) -> bool:
    """Whether a group has one member, whom we trust. Systems that give each user such a group let it write (umask 002).

    It is known by its name, which is the user's, and by its list of further members. To know who else has it as the
    first group, all accounts would have to be read, and a network may have a hundred thousand.
    """
    try:
        import grp
        import pwd

        group = grp.getgrgid(gid)
        user = pwd.getpwnam(group.gr_name)
    except (ImportError, KeyError):
        return False
    return user.pw_uid in owners and user.pw_gid == gid and set(group.gr_mem) <= {user.pw_name}
