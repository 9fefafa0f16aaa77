"""variants.toml, checked: which rows, backends and overlays there are, and which of them a platform has.

The only reader of that file. The build asks it (cmake/variants.py, which `dlx-torch build` runs from the wheel), and so
do the tools of a checkout (tools/matrix.py). `import torch` never does: what it needs to know stands in the manifest.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._variants import row_directory

OVERLAY = row_directory(None, None)
PLATFORMS = ("linux-x86_64", "linux-aarch64", "macos-arm64", "windows-x64")

_SCHEMA = 1
_TABLES = ("schema", "row", "backends", "overlay")
_NUMBER = re.compile(r"\d+\.\d+")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")
_RANGE = re.compile(r"\d+\.\d+-\d+\.\d+")


class MatrixError(Exception):
    """variants.toml cannot be used. One line: the file, what is wrong there, what to do."""


@dataclass(frozen=True)
class Row:
    """A row as variants.toml states it, key by key; the comment at the top of that file says what each means."""

    torch: str
    cxx11_abi: bool
    std: int
    sdk: str
    cpython: str
    serves: str


@dataclass(frozen=True)
class Backend:
    """`links`: torch's libraries that it may need at load time, as CMake calls them ("c10"). `extra`: more files of
    cpp/src/backends that it is made of. `serves`: the kinds of rows that have it; empty for all."""

    links: tuple[str, ...]
    extra: tuple[str, ...]
    platforms: tuple[str, ...]
    serves: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """`rows` by directory name ("torch2_9_cxx11"), in the order of torch's releases; `backends` and `overlays` by
    name."""

    rows: dict[str, Row]
    backends: dict[str, Backend]
    overlays: dict[str, Backend]

    @property
    def platforms(self) -> list[str]:
        """Every platform that anything is built for."""
        every = [*self.backends.values(), *self.overlays.values()]
        return list(dict.fromkeys(platform for backend in every for platform in backend.platforms))

    def of_lines(self, lines: set[str]) -> list[str]:
        """The names of the rows of these torch release lines ("2.9")."""
        return [name for name, row in self.rows.items() if row.torch in lines]

    def backend(self, row: str, name: str) -> Backend | None:
        """The backend of a library that lies in this row; None where the matrix has none by that name there."""
        if row == OVERLAY:
            return self.overlays.get(name)
        found = self.backends.get(name)
        if row not in self.rows or not found or (found.serves and self.rows[row].serves not in found.serves):
            return None
        return found

    def backends_of(self, row: str, platform: str) -> list[str]:
        """The backends that a row, or the overlay, has on a platform. Only libstdc++, Linux's, has two C++ ABIs:
        elsewhere the rows with the newer one stand for the only one there is."""
        if row != OVERLAY and not self.rows[row].cxx11_abi and not platform.startswith("linux-"):
            return []
        names = self.overlays if row == OVERLAY else self.backends
        return [name for name in names if (found := self.backend(row, name)) and platform in found.platforms]

    def files(self, platform: str) -> list[tuple[str, str]]:
        """(row, backend) of every library that a whole wheel for the platform has."""
        return [(row, name) for row in (*self.rows, OVERLAY) for name in self.backends_of(row, platform)]


@functools.lru_cache
def read(path: Path) -> Matrix:
    """The matrix in this file; MatrixError where it says anything that nobody would follow."""
    document = _load(path)
    _keys(path, "the file", document, required=_TABLES)
    if document["schema"] != _SCHEMA:
        raise MatrixError(f"{path}: schema {document['schema']!r} is unknown; write schema = {_SCHEMA}")
    _of_type(path, "the file", "row", document["row"], list)
    rows: dict[str, Row] = {}
    for number, entry in enumerate(document["row"], 1):
        row = _row(path, f"row {number}", entry)
        name = row_directory(row.torch, row.cxx11_abi)
        if name in rows:
            raise MatrixError(f"{path}: row {number} is {name} a second time; remove one of the two")
        rows[name] = row
    return Matrix(
        rows,
        _backends(path, document, "backends", required=("links", "platforms"), optional=("extra", "serves")),
        _backends(path, document, "overlay", required=("platforms",)),
    )


def _load(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            raise MatrixError(
                f"{path}: below Python 3.11, reading it takes tomli; {sys.executable} -m pip install tomli"
            ) from None
    try:
        with path.open("rb") as stream:
            document: dict[str, Any] = tomllib.load(stream)
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read ({error.strerror}); is this the folder of the sources?") from None
    except ValueError as error:
        raise MatrixError(f"{path}: is not TOML ({error}); correct that place") from None
    return document


def _row(path: Path, where: str, entry: Any) -> Row:
    types = {"torch": str, "cxx11_abi": bool, "std": int, "sdk": str, "cpython": str, "serves": str}
    if isinstance(entry, dict) and isinstance(entry.get("torch"), str):
        where += f" (torch {entry['torch']})"
    _keys(path, where, entry, required=tuple(types))
    for key, kind in types.items():
        _of_type(path, where, key, entry[key], kind)
    row = Row(**entry)
    _matches(path, f"{where}: torch", row.torch, _NUMBER, "a release line such as 2.9")
    _matches(path, f"{where}: sdk", row.sdk, _RELEASE, "a release such as 2.9.1")
    _matches(path, f"{where}: cpython", row.cpython, _RANGE, "the oldest and the newest, such as 3.10-3.14")
    if not row.sdk.startswith(f"{row.torch}."):
        raise MatrixError(f"{path}: {where}: sdk {row.sdk} is no release of torch {row.torch}; take one of that line")
    _known(path, f"{where}: serves", (row.serves,), _ROWS_SERVE)
    return row


_ROWS_SERVE = ("default", "prefer")


def _backends(
    path: Path, document: dict[str, Any], table: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Backend]:
    _of_type(path, "the file", table, document[table], dict)
    found = {}
    for name, entry in document[table].items():
        where = f"[{table}.{name}]"
        _keys(path, where, entry, required, optional)
        values = {}
        for key in ("links", "extra", "platforms", "serves"):
            words = entry.get(key, [])
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise MatrixError(f"{path}: {where}: {key} is {words!r}; write a list of strings")
            values[key] = tuple(words)
        _known(path, f"{where}: platforms", values["platforms"], PLATFORMS)
        _known(path, f"{where}: serves", values["serves"], _ROWS_SERVE)
        found[name] = Backend(**values)
    return found


def _keys(path: Path, where: str, entry: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    _of_type(path, where, "it", entry, dict)
    missing = [key for key in required if key not in entry]
    unknown = [key for key in entry if key not in required and key not in optional]
    if missing:
        raise MatrixError(f"{path}: {where} lacks {', '.join(missing)}; add what is missing")
    if unknown:
        known = ", ".join((*required, *optional))
        raise MatrixError(f"{path}: {where} has {', '.join(unknown)}, which nothing reads; the keys are {known}")


def _of_type(path: Path, where: str, key: str, value: Any, kind: type) -> None:
    if type(value) is not kind:  # a bool is an int for isinstance
        words = {str: "a string", bool: "true or false", int: "a whole number", list: "a list", dict: "a table"}
        raise MatrixError(f"{path}: {where}: {key} is {value!r}; write {words[kind]}")


def _matches(path: Path, where: str, value: str, pattern: re.Pattern[str], wanted: str) -> None:
    if not pattern.fullmatch(value):
        raise MatrixError(f"{path}: {where} is {value!r}; write {wanted}")


def _known(path: Path, where: str, values: Iterable[str], known: tuple[str, ...]) -> None:
    for value in values:
        if value not in known:
            raise MatrixError(f"{path}: {where} has {value!r}, which is unknown; known are {', '.join(known)}")
