"""Find CPython X.Y on this machine, or download it: a build of uv's, Debian's packages or its sources."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.screen import busy
from tools.settings import ToolError, dev_dir, machine, tool, uv_environment
from tools.testing import debian, emulation, free_threaded

# With a "t" at its end, the version is that of a free-threaded one.
_PRINT_VERSION = """
import sys, sysconfig
print(sys.implementation.name, "%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


@functools.cache
def find(version: str, arch: str | None = None) -> Path | None:
    """The path of a CPython of that version ("3.12", "3.13t") that runs here, or None where there is none and none can
    be downloaded. ToolError where `arch` is another processor and qemu is missing."""
    if arch not in (None, machine()):
        emulated = emulation.python(version, arch)
        return emulated if emulated and runs(emulated, version) else None
    for candidate in _installed(version):
        if runs(candidate, version):
            return candidate
    with busy(f"Looking for CPython {version}"):
        for fetch in (_from_uv, debian.python, free_threaded.python):
            downloaded = fetch(version)
            if downloaded is not None and runs(downloaded, version):
                return downloaded
    return None


def runs(python: Path, version: str) -> bool:
    """Whether that program is a CPython of that version and starts. A pyenv shim may exist and fail to start."""
    try:
        done = subprocess.run(
            [str(python), "-c", _PRINT_VERSION], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split()[:2] == ["cpython", version]


def _installed(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        yield Path(sys.executable)
    name = f"python{version}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if program := shutil.which(name, path=folder):
            yield Path(program)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"), reverse=True)


def _from_uv(version: str) -> Path | None:
    """A build that uv manages, downloaded if it is missing; None where uv cannot download it."""
    environment = uv_environment(UV_PYTHON_INSTALL_DIR=str(dev_dir() / "pythons" / "uv"), UV_HTTP_RETRIES="1")
    uv = tool("uv")
    subprocess.run([uv, "python", "install", "-q", version], env=environment, capture_output=True, check=False)
    command = [uv, "python", "find", "--managed-python", version]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None


def require(version: str, arch: str | None = None) -> Path:
    """Like find(), but with a ToolError where there is none."""
    python = find(version, arch)
    if python is None:
        raise ToolError(
            f"no CPython {version} here, and none could be downloaded: install one, so that python{version} is on PATH"
        )
    return python
