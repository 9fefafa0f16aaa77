"""Unpack Debian packages into a folder, without installing them. apt chooses, downloads and verifies them, from the
mirrors that this machine is set up with; it keeps its state in a folder of our own."""

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
    command = ["--download-only", "--yes", "install"] if dependencies else ["download"]
    _call([*apt, *command, *packages], state)
    for package in sorted([*state.glob("*.deb"), *(state / "archives").glob("*.deb")]):
        _call(["dpkg-deb", "--extract", str(package), str(root)], state)
    shutil.rmtree(state)


def _call(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
