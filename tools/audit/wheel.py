"""A wheel as the audit sees it: its tags, its members, its manifest and its libraries, all read, nothing unpacked or
loaded."""

from __future__ import annotations

import functools
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from tools.audit import platforms
from tools.audit.binary import Binary
from tools.audit.platforms import Platform
from tools.settings import ToolError

LIB = "dlx_torch_ext/_lib"
_SUFFIXES = (".so", ".dylib", ".dll")
# The end of a platform tag, and the word that the manifest has for the same.
_LINUX = re.compile(
    r"(?P<kind>manylinux_(?P<major>\d+)_(?P<minor>\d+)|manylinux(1|2010|2014)|linux)_(?P<processor>\w+)"
)
_MACOS = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<processor>arm64|x86_64)")


@dataclass(frozen=True)
class Library:
    """A library of the wheel. `row` and `backend` are what its path claims; `binary` is None, and `problem` says why,
    where it cannot be read as one."""

    member: str
    data: bytes
    binary: Binary | None
    problem: str

    @property
    def row(self) -> str:
        return self.member.split("/")[-2]

    @property
    def backend(self) -> str:
        return self.member.split("/")[-1].rpartition(".")[0].removeprefix("lib").removeprefix("dlx_torch_")


@dataclass(frozen=True)
class Wheel:
    """`members` maps the name of every file in the wheel to its bytes. `size` is the wheel's own."""

    path: Path
    size: int
    version: str
    tags: tuple[str, ...]
    members: dict[str, bytes]

    @property
    def dist_info(self) -> str:
        return f"dlx_torch_ext-{self.version}.dist-info"

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platform tags: one, or several for the same machine."""
        return tuple(sorted({tag.split("-")[2] for tag in self.tags}))

    @property
    def platform(self) -> str:
        """The platform in the manifest's words, by the tag: "linux-x86_64"; "" where it is none of ours."""
        for tag in self.platforms:
            if linux := _LINUX.fullmatch(tag):
                return f"linux-{linux['processor']}"
            if macos := _MACOS.fullmatch(tag):
                return f"macos-{macos['processor']}"
        return "windows-x64" if self.platforms == ("win_amd64",) else ""

    @property
    def system(self) -> Platform:
        """What holds on its platform; Linux's where that is none of ours."""
        return platforms.of(self.platform)

    @functools.cached_property
    def libraries(self) -> tuple[Library, ...]:
        return tuple(
            _library(member, data, self.system)
            for member, data in sorted(self.members.items())
            if member.endswith(_SUFFIXES) or ".so." in member
        )

    @property
    def binaries(self) -> Iterator[tuple[Library, Binary]]:
        """The libraries that can be read, with what is in them."""
        return ((library, library.binary) for library in self.libraries if library.binary is not None)

    @functools.cached_property
    def manifest(self) -> dict[str, Any] | None:
        """The manifest as it was written; None where there is none that is a JSON object."""
        try:
            found = json.loads(self.members.get(f"{LIB}/manifest.json", b""))
        except ValueError:
            return None
        return found if isinstance(found, dict) else None


def glibc_of(platform: str) -> tuple[int, int] | None:
    """The glibc that a platform tag promises to be enough; None for linux_<processor>, which promises nothing."""
    found = _LINUX.fullmatch(platform)
    if found is None or found["kind"] == "linux":
        return None
    old = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
    return old.get(found["kind"]) or (int(found["major"]), int(found["minor"]))


def macos_of(platform: str) -> tuple[int, int] | None:
    """The macOS that a platform tag promises to be enough."""
    found = _MACOS.fullmatch(platform)
    return (int(found["major"]), int(found["minor"])) if found else None


def _library(member: str, data: bytes, system: Platform) -> Library:
    try:
        return Library(member, data, system.read(data), "")
    except ValueError as error:
        return Library(member, data, None, str(error))


def read(path: Path) -> Wheel:
    """The wheel at `path`; ToolError, in one line, where that is no wheel of this project."""
    if not path.is_file():
        raise ToolError(f"{path}: no such file. Build a wheel first: ./dev wheel")
    try:
        name, version, _, tags = parse_wheel_filename(path.name)
    except InvalidWheelFilename:
        raise ToolError(f"{path}: not the name of a wheel, which is name-version-python-abi-platform.whl") from None
    if name != "dlx-torch-ext":
        raise ToolError(f"{path}: a wheel of {name}, and the audit knows those of dlx-torch-ext")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ToolError(f"{path}: not a wheel that can be read: {error}") from None
    return Wheel(path, path.stat().st_size, str(version), tuple(sorted(map(str, tags))), members)
