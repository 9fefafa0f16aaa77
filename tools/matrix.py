"""variants.toml, by the names that a wheel has for its parts. As a command, the list of what CI tests of it:

python -m tools.matrix     prints {"include": [{"torch": "2.9.1", "python": "3.11"}, ...]}, the matrix of a workflow
"""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tools.settings import ROOT, ToolError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.append(str(ROOT / "python"))  # the package itself, where it is not installed

from dlx_torch_ext._variants import row_directory

OVERLAY = row_directory(None, None)
TOML = ROOT / "variants.toml"
# The oldest CPython that is served, one in the middle and one of the newest: the libraries are the same on all.
_TESTED = ("3.9", "3.11", "3.13")


@dataclass(frozen=True)
class Row:
    """A row as variants.toml states it, key by key."""

    torch: str
    cxx11: bool
    std: int
    sdk: str
    cpython: str
    serves: str

    def has_wheel_for(self, python: str) -> bool:
        oldest, _, newest = self.cpython.partition("-")
        return _number(oldest) <= _number(python) <= _number(newest)


@dataclass(frozen=True)
class Backend:
    """`links`: torch's libraries that it may need at load time, as CMake calls them ("c10"). `serves`: the kinds of
    rows that have it; none for all."""

    links: tuple[str, ...]
    platforms: tuple[str, ...]
    serves: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """`rows` by directory name ("torch2_9_cxx11"), `backends` and `overlays` by name."""

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

    def files(self, platform: str) -> list[tuple[str, str]]:
        """(row, backend) of every library that a whole wheel for the platform has. Only libstdc++, Linux's, has two C++
        ABIs: elsewhere the rows with the newer one stand for the only one there is."""
        linux = platform.startswith("linux-")
        every = [(row, name) for row, it in self.rows.items() if it.cxx11 or linux for name in self.backends]
        every += [(OVERLAY, name) for name in self.overlays]
        return [(row, name) for row, name in every if (it := self.backend(row, name)) and platform in it.platforms]

    def tested(self) -> list[dict[str, str]]:
        """What CI tests the wheel on: the torch release of each row, with some of the CPythons it has wheels for."""
        releases = {row.sdk: row for row in self.rows.values()}
        return [
            {"torch": release, "python": python}
            for release, row in releases.items()
            for python in [it for it in _TESTED if row.has_wheel_for(it)] or [row.cpython.partition("-")[0]]
        ]


@functools.lru_cache
def read(path: Path = TOML) -> Matrix:
    """The matrix; ToolError where a row has other keys than a row has."""
    document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    keys = [field.name for field in fields(Row)]
    for row in document["row"]:
        if wrong := sorted(set(keys) ^ set(row)):
            line = row.get("torch", "which no release is named")
            raise ToolError(f"{path}: a row has {', '.join(keys)}; the one of {line} differs in {', '.join(wrong)}")

    def backends(table: str) -> dict[str, Backend]:
        return {
            name: Backend(tuple(entry.get("links", ())), tuple(entry["platforms"]), tuple(entry.get("serves", ())))
            for name, entry in document.get(table, {}).items()
        }

    rows = {row_directory(row["torch"], row["cxx11"]): Row(**row) for row in document["row"]}
    return Matrix(rows, backends("backends"), backends("overlay"))


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    print(json.dumps({"include": read().tested()}))
