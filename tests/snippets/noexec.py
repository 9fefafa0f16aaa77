"""Loads a library from a file system that is mounted noexec. The mount is in a namespace of this process, and ends with
it."""

from __future__ import annotations

import ctypes
import os
import shutil

from dlx_torch_ext import _load
from dlx_torch_ext._resolve import Accepted, Candidate, Rejected

from tests.support.installation import facts

# From Linux's headers sched.h and mount.h.
CLONE_NEWNS, MS_NOEXEC, MS_REC, MS_PRIVATE = 0x20000, 8, 0x4000, 1 << 18


def reason(folder: str, library: str) -> str:
    """Why the copy of `library` is refused that lies in a new file system, mounted over `folder`."""
    system = ctypes.CDLL(None, use_errno=True)
    assert system.unshare(CLONE_NEWNS) == 0, os.strerror(ctypes.get_errno())
    assert system.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0, os.strerror(ctypes.get_errno())
    assert system.mount(b"none", folder.encode(), b"tmpfs", MS_NOEXEC, None) == 0, os.strerror(ctypes.get_errno())
    copy = shutil.copy(library, os.path.join(folder, "library.so"))
    verdict = _load.load(Candidate("x", "dlx", Accepted(""), "cpu", copy), facts())
    return verdict.reason if isinstance(verdict, Rejected) else ""
