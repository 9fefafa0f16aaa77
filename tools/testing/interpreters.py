"""Find CPython X.Y on this machine, or fetch it: one of uv's builds, else Debian's packages, unpacked."""

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
from tools.testing import debian, emulation

_ASK = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.executable)"


@functools.cache
def find(version: str, arch: str | None = None) -> Path | None:
    """The path of a CPython of that version ("3.12") that runs, or None where none can be had here. ToolError where
    `arch` is another processor and nothing here runs its programs."""
    if arch not in (None, machine()):
        found = emulation.python(version, arch)
        return found if found and runs(found, version) else None
    for candidate in _installed(version):
        if runs(candidate, version):
            return candidate
    with busy(f"Looking for CPython {version}"):
        for fetch in (_from_uv, debian.python):
            found = fetch(version)
            if found is not None and runs(found, version):
                return found
    return None


def runs(python: Path, version: str) -> bool:
    """Whether that program is a CPython of that version and starts: a pyenv shim may be there and not start."""
    try:
        done = subprocess.run([str(python), "-c", _ASK], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split()[:2] == ["cpython", version]


def _installed(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        yield Path(sys.executable)
    name = f"python{version}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if found := shutil.which(name, path=folder):
            yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"), reverse=True)


def _from_uv(version: str) -> Path | None:
    """A build that uv manages, downloaded where it has to be; None where its host cannot be reached."""
    environment = uv_environment(UV_PYTHON_INSTALL_DIR=str(dev_dir() / "pythons" / "uv"), UV_HTTP_RETRIES="1")
    uv = tool("uv")
    subprocess.run([uv, "python", "install", "-q", version], env=environment, capture_output=True, check=False)
    command = [uv, "python", "find", "--managed-python", version]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None


def require(version: str, arch: str | None = None) -> Path:
    """Like find, but ToolError where there is none."""
    found = find(version, arch)
    if found is None:
        raise ToolError(
            f"no CPython {version} here, and none could be fetched: install one, so that python{version} is on PATH"
        )
    return found
