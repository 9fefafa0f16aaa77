"""variants.toml, by the names that a wheel has for its parts."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any

from tools.settings import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.append(str(ROOT / "python"))  # the package itself, where it is not installed

from dlx_torch_ext._variants import row_directory

OVERLAY = row_directory(None, None)


@dataclass(frozen=True)
class Backend:
    """`links`: torch's libraries that it may need at load time, as CMake calls them ("c10"). `serves`: the kinds of rows
    that have it; none for all."""

    links: tuple[str, ...]
    platforms: tuple[str, ...]
    serves: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """`rows` by directory name ("torch2_9_cxx11"), `backends` and `overlays` by name."""

    rows: dict[str, dict[str, Any]]
    backends: dict[str, Backend]
    overlays: dict[str, Backend]

    def backend(self, row: str, name: str) -> Backend | None:
        """The backend of a library that lies in this row; None where the matrix has none by that name there."""
        if row == OVERLAY:
            return self.overlays.get(name)
        found = self.backends.get(name)
        if row not in self.rows or not found or (found.serves and self.rows[row]["serves"] not in found.serves):
            return None
        return found

    def files(self, platform: str) -> list[tuple[str, str]]:
        """(row, backend) of every library that a whole wheel for the platform has."""
        every = [(row, name) for row in self.rows for name in self.backends]
        every += [(OVERLAY, name) for name in self.overlays]
        return [(row, name) for row, name in every if (it := self.backend(row, name)) and platform in it.platforms]


@functools.lru_cache(maxsize=1)
def read() -> Matrix:
    document: dict[str, Any] = tomllib.loads((ROOT / "variants.toml").read_text(encoding="utf-8"))

    def backends(table: str) -> dict[str, Backend]:
        return {
            name: Backend(tuple(entry.get("links", ())), tuple(entry["platforms"]), tuple(entry.get("serves", ())))
            for name, entry in document.get(table, {}).items()
        }

    rows = {row_directory(row["torch"], row["cxx11"]): row for row in document["row"]}
    return Matrix(rows, backends("backends"), backends("overlay"))
