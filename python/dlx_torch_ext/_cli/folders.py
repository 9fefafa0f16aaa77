"""The folder that a library is built into: made, looked at, and cleared of what killed builds have left there."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator

from .. import _trust
from .._errors import BuildError

_ANOTHER_PLACE = "give --output-dir, or set DLX_TORCH_CACHE_DIR"
# No build takes so long. A folder that is older is of a process that ended, even if it ran on another host.
_OLD_S = 24 * 3600.0


@contextlib.contextmanager
def told(step: str, remedy: str = _ANOTHER_PLACE) -> Iterator[None]:
    """A BuildError for an OSError of the block: which step failed, on which path, and the system's reason."""
    try:
        yield
    except OSError as error:
        paths = "".join(f"{path}: " for path in (error.filename, error.filename2) if path is not None)
        reason = error.strerror or str(error) or type(error).__name__
        raise BuildError(f"the build stopped at {step}: {paths}{reason}: {remedy}") from None


def prepare(folder: str, private: bool) -> None:
    """Makes the folder and those above it that are missing; `private`: for this user alone, as the XDG specification
    has it. BuildError if that fails, or if others could put a library there, because none would be loaded from it."""
    with told("making the folder"):
        _make(folder, 0o700 if private else 0o755)
    problem = _trust.problem(folder, folder=True)
    if problem:
        raise BuildError(f"no library in {folder} would ever be opened, because {problem}; {_ANOTHER_PLACE}")


def _make(folder: str, mode: int) -> None:
    try:
        os.mkdir(folder, mode)
    except FileNotFoundError:
        above = os.path.dirname(folder)
        if os.path.isdir(above):
            raise  # such as below /proc
        _make(above, mode)
        _make(folder, mode)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None


def workplace(folder: str, name: str) -> str:
    """A new folder in `folder`, to build the file `name` in. Its name says whose it is: host and process."""
    return tempfile.mkdtemp(prefix=f".{name}.build-{_host()}-{os.getpid()}-", dir=folder)


def clear(folder: str, name: str) -> None:
    """Removes the workplaces of builds of the file `name` that no longer run.

    The lock does not tell: on some file systems a lock is known to one host only. So a workplace of this host is
    removed if its process has ended, and one of another host if it is very old.
    """
    own = re.compile(rf"\.build-{re.escape(_host())}-(\d+)-[^-]*$")
    for place in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.build-*")):
        match = own.search(place)
        with contextlib.suppress(OSError):
            if (match and _has_ended(int(match[1]))) or time.time() - os.lstat(place).st_mtime > _OLD_S:
                shutil.rmtree(place, ignore_errors=True)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", platform.node())[:64]


def _has_ended(pid: int) -> bool:
    if pid == os.getpid():  # it was another process: this one has not begun to build
        return True
    if sys.platform == "win32":  # os.kill ends the process there, whatever the signal
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
