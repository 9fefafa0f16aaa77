"""Unpack a CPython from Debian's packages into a folder: for machines with apt that cannot download uv's builds, and
for another processor than this machine's, under qemu.

The C library that the interpreter was built for is unpacked too, and the interpreter runs with that one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tools import apt
from tools.settings import dev_dir, locked, machine, tool

# The Debian release that has each CPython.
_SUITES = {"3.9": "bullseye", "3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def python(version: str, arch: str | None = None) -> Path | None:
    """The path of the interpreter, unpacked at the first call. None where this machine has no apt with a Debian mirror,
    or no Debian release has that version."""
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


def sources(version: str, root: Path) -> Path | None:
    """CPython's own sources, unpacked below `root`, as the Debian release has them that has this version. None where
    they cannot be had."""
    suite, mirror = _SUITES.get(version), _mirror()
    if suite is None or mirror is None or not shutil.which("apt-get"):
        return None
    try:
        line = f"deb-src [{mirror[1]}] {mirror[0]} {suite} main"
        return apt.unpack_source(f"python{version}", root, _settings(line, machine(), root))
    except (subprocess.CalledProcessError, OSError, StopIteration):
        return None


def _mirror() -> tuple[str, str] | None:
    """The URI and the options ("signed-by=...") of this machine's Debian mirror, read from apt's files of either
    format; None where there is none."""
    for file in [*Path("/etc/apt/sources.list.d").glob("*.sources"), *Path("/etc/apt").glob("sources.list.d/*.list")]:
        for stanza in file.read_text(encoding="utf-8").split("\n\n"):
            uri = re.search(r"^URIs:\s*(\S+/debian)/?\s*$", stanza, re.MULTILINE)
            key = re.search(r"^Signed-By:\s*(/\S+)", stanza, re.MULTILINE)
            if uri:
                return uri[1], f"signed-by={key[1]}" if key else ""
    sources = Path("/etc/apt/sources.list")
    line = re.search(
        r"^deb\s+(?:\[(.*?)\]\s+)?(\S+/debian)/?\s", sources.read_text() if sources.exists() else "", re.MULTILINE
    )
    return (line[2], line[1] or "") if line else None


def _unpack(version: str, arch: str, source: str, root: Path) -> None:
    """Unpack the interpreter, the C library and everything else that it depends on. apt gets an empty list of installed
    packages, so that it downloads those that this machine has, too."""
    apt.unpack([f"python{version}", "libstdc++6"], root, dependencies=True, settings=_settings(source, arch, root))


def _settings(source: str, arch: str, root: Path) -> dict[str, object]:
    """apt's settings for that line of a sources.list and nothing else. Two files of them lie in `root`."""
    root.mkdir(parents=True)
    sources, status = root / "sources.list", root / "status"
    sources.write_text(source.replace(" []", "") + "\n", encoding="utf-8")
    status.touch()
    return {
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


def _use_own_loader(binary: Path, root: Path, arch: str) -> None:
    """Make the interpreter start with the unpacked loader and C library: they may be newer than this machine's."""
    triplet = f"{arch}-linux-gnu"
    loader = next(root.glob(f"**/{triplet}/ld-linux-*.so.*"))
    libraries = f"{root}/usr/lib/{triplet}:{root}/lib/{triplet}"
    patch = [tool("patchelf"), "--set-interpreter", str(loader), "--force-rpath", "--set-rpath", libraries, str(binary)]
    subprocess.run(patch, capture_output=True, check=True)
