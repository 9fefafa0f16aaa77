"""Write members of an archive below a folder, and never anywhere else.

The names of an archive come from whoever made it. So they are looked at before the first byte is written: the digest of
an SDK can be compared only once its files are there.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tools.settings import ToolError

_KINDS = (0, stat.S_IFREG)  # 0: the archive was made on a system that says no kind


def extract(
    archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo], root: Path, place: Callable[[str], str]
) -> None:
    """Write the members below `root`, each at the place that `place` gives for its name, in the order they have in the
    archive. A file that an earlier, interrupted download has written completely is kept.

    ToolError, before anything is written, where a place is not below `root`, or a member is no regular file."""
    places = [(member, place(member.filename)) for member in sorted(members, key=lambda m: m.header_offset)]
    for member, where in places:
        problem = "" if is_below(where) else "leads out of the folder"
        if stat.S_IFMT(member.external_attr >> 16) not in _KINDS or member.is_dir():
            problem = "is no regular file"
        if problem:
            name = archive.filename or "the archive"
            raise ToolError(f"{name}: the member {member.filename!r} {problem}: do not use this archive")
    for member, where in places:
        target = root / where
        if target.exists() and zlib.crc32(target.read_bytes()) == member.CRC:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(archive.read(member))


def is_below(name: str) -> bool:
    """Whether a path is relative, and stays below the folder that it is joined to, on every system."""
    return not {"", ".", ".."} & set(name.split("/")) and not set("\\:\0") & set(name)
