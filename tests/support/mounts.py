"""A file system of its own for one process: the mount is in a namespace of that process, and ends with it."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

# From Linux's headers sched.h and mount.h.
MS_NOEXEC = 8
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 1 << 18


def may_mount() -> bool:
    """Whether this process has CAP_SYS_ADMIN, which root in a container may lack."""
    status = Path("/proc/self/status")
    found = re.search(r"^CapEff:\s*(\w+)", status.read_text(), re.MULTILINE) if status.exists() else None
    return found is not None and bool(int(found[1], 16) >> 21 & 1)


def mount_tmpfs(folder: str, flags: int = 0, options: str = "") -> None:
    """Over `folder`; for this process, which has to be one of the test's own."""
    system = ctypes.CDLL(None, use_errno=True)
    for failed in (
        system.unshare(_CLONE_NEWNS),
        system.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None),
        system.mount(b"none", folder.encode(), b"tmpfs", flags, options.encode()),
    ):
        assert not failed, os.strerror(ctypes.get_errno())
