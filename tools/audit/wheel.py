"""Read a wheel for the audit: its tags, members, manifest and libraries. Nothing is unpacked to disk or loaded."""

from __future__ import annotations

import functools
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from tools.audit import platforms
from tools.audit.binary import Binary
from tools.audit.platforms import Platform
from tools.settings import ToolError

LIB = "dlx_torch_ext/_lib"
_SUFFIXES = (".so", ".dylib", ".dll")
# Platform tags. The group `processor` is spelled as in the manifest.
_LINUX = re.compile(
    r"(?P<kind>manylinux_(?P<major>\d+)_(?P<minor>\d+)|manylinux(1|2010|2014)|linux)_(?P<processor>\w+)"
)
_MACOS = re.compile(r"macosx_(?P<major>\d+)_(?P<minor>\d+)_(?P<processor>arm64|x86_64)")


@dataclass(frozen=True)
class Library:
    """A library of the wheel. `row` and `backend` are taken from its path. Where the file cannot be read as a library,
    `binary` is None and `problem` says why."""

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
    """A wheel. `members` maps the name of each file in it to its bytes; `size` is the size of the wheel's file."""

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
        """The platform tags: one, or several that mean the same system and processor."""
        return tuple(sorted({tag.split("-")[2] for tag in self.tags}))

    @property
    def platform(self) -> str:
        """The platform of the tag, spelled as in the manifest ("linux-x86_64"); "" for one that has no wheels."""
        for tag in self.platforms:
            if linux := _LINUX.fullmatch(tag):
                return f"linux-{linux['processor']}"
            if macos := _MACOS.fullmatch(tag):
                return f"macos-{macos['processor']}"
        return "windows-x64" if self.platforms == ("win_amd64",) else ""

    @property
    def system(self) -> Platform:
        """The description of its platform; Linux's for a platform that has no wheels."""
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
        """The libraries that can be read, each with its contents."""
        return ((library, library.binary) for library in self.libraries if library.binary is not None)


def glibc_of(platform: str) -> tuple[int, int] | None:
    """The oldest glibc that a platform tag says the wheel runs with; None for linux_<processor>, which says nothing."""
    match = _LINUX.fullmatch(platform)
    if match is None or match["kind"] == "linux":
        return None
    old = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
    return old.get(match["kind"]) or (int(match["major"]), int(match["minor"]))


def macos_of(platform: str) -> tuple[int, int] | None:
    """The oldest macOS that a platform tag says the wheel runs on; None for another system's tag."""
    match = _MACOS.fullmatch(platform)
    return (int(match["major"]), int(match["minor"])) if match else None


def _library(member: str, data: bytes, system: Platform) -> Library:
    try:
        return Library(member, data, system.read(data), "")
    except ValueError as error:
        return Library(member, data, None, str(error))


def read(path: Path) -> Wheel:
    """The wheel at `path`. ToolError, in one line, where the file is not a wheel of this project."""
    if not path.is_file():
        raise ToolError(f"{path}: no such file. Build the wheel first: ./dev wheel")
    try:
        name, version, _, tags = parse_wheel_filename(path.name)
    except InvalidWheelFilename:
        raise ToolError(
            f"{path}: not named like a wheel (name-version-python-abi-platform.whl). Give a wheel"
        ) from None
    if name != "dlx-torch-ext":
        raise ToolError(f"{path}: a wheel of {name}. The audit checks only wheels of dlx-torch-ext: give one of those")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ToolError(f"{path}: cannot be read as a wheel: {error}. Build it again: ./dev wheel") from None
    return Wheel(path, path.stat().st_size, str(version), tuple(sorted(map(str, tags))), members)
