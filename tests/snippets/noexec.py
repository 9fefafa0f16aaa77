"""Loads a library from a file system that is mounted noexec."""

from __future__ import annotations

import os
import shutil

from dlx_torch_ext import _load
from dlx_torch_ext._resolve import Accepted, Candidate, Rejected

from tests.support.installation import facts
from tests.support.mounts import MS_NOEXEC, mount_tmpfs


def reason(folder: str, library: str) -> str:
    """Why the copy of `library` is refused that lies in a new file system, mounted over `folder`."""
    mount_tmpfs(folder, MS_NOEXEC)
    copy = shutil.copy(library, os.path.join(folder, "library.so"))
    verdict = _load.load(Candidate("x", "dlx", Accepted(""), "cpu", copy), facts())
    return verdict.reason if isinstance(verdict, Rejected) else ""
