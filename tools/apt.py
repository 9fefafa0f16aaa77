"""Unpack Debian packages, or their sources, into a folder, without installing them. apt chooses, downloads and verifies
them, from the mirrors that this machine is set up with; it keeps its state in a folder of our own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path


def unpack(
    packages: list[str], root: Path, *, dependencies: bool = False, settings: Mapping[str, object] | None = None
) -> None:
    """Unpack `packages` below `root`; with `dependencies`, also every package that they depend on.

    `settings` are further options of apt, by name; relative paths in them start at the state folder. OSError where
    there is no apt, subprocess.CalledProcessError where apt or dpkg-deb fails.
    """
    state = root / "apt"
    apt = _updated(state, settings)
    command = ["--download-only", "--yes", "install"] if dependencies else ["download"]
    _call([*apt, *command, *packages], state)
    for package in sorted([*state.glob("*.deb"), *(state / "archives").glob("*.deb")]):
        _call(["dpkg-deb", "--extract", str(package), str(root)], state)
    shutil.rmtree(state)


def unpack_source(package: str, root: Path, settings: Mapping[str, object]) -> Path:
    """Unpack the upstream sources of a source package below `root` and return their folder; Debian's changes are not
    applied. `settings` and errors are those of unpack()."""
    state = root / "apt"
    _call([*_updated(state, settings), "source", "--download-only", package], state)
    _call(["tar", "--extract", "--file", str(next(state.glob("*.orig.tar.*z"))), "--directory", str(root)], state)
    shutil.rmtree(state)
    return next(path for path in root.iterdir() if path.is_dir())


def _updated(state: Path, settings: Mapping[str, object] | None) -> list[str]:
    """apt-get with its state in a new folder, and with lists of packages there."""
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True)
    own_state = {
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state,
        "Dir::Cache::archives": state / "archives",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in {**own_state, **(settings or {})}.items())]
    _call([*apt, "update"], state)
    return apt


def _call(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
