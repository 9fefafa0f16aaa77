"""known.toml: mutants that no test can kill, and code that this row and torch do not run, each with its reason."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutate.mutant import Mutant
from tools.settings import ToolError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class Equivalent:
    """Mutants of a line that behave as the original does. `line` and `mutants` are lines without white space around
    them; the one mutant "*" stands for all of the line."""

    file: str
    line: str
    mutants: tuple[str, ...]
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        before, after = (" ".join(text.strip() for text in lines) for lines in (mutant.before, mutant.after))
        same = mutant.file == self.file and before == self.line
        return same and (after in self.mutants or self.mutants == ("*",))


@dataclass(frozen=True)
class Elsewhere:
    """Code that does not run here: from the line that begins with `begins` to the one that begins with `ends`."""

    file: str
    begins: str
    ends: str
    reason: str

    def lines(self, source: Sequence[str]) -> range:
        """The numbers of the lines, from 1 on. ToolError where the file no longer has them."""
        first = next((i for i, text in enumerate(source) if text.startswith(self.begins)), None)
        rest = source[first + 1 :] if first is not None else ()
        length = next((i for i, text in enumerate(rest) if text.startswith(self.ends)), None)
        if first is None or length is None:
            raise ToolError(f"{FILE.name}: {self.file} has no lines from {self.begins!r} to {self.ends!r}: correct it")
        return range(first + 1, first + length + 3)


@dataclass(frozen=True)
class Known:
    equivalents: tuple[Equivalent, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()

    def reason(self, mutant: Mutant) -> str:
        """Why no test can kill the mutant; "" if nothing says so."""
        return next((one.reason for one in self.equivalents if one.covers(mutant)), "")

    def runs_elsewhere(self, mutant: Mutant, source: str) -> bool:
        """Whether the mutant's line, in that text of its file, does not run here."""
        lines = source.splitlines()
        return any(mutant.file == one.file and mutant.line in one.lines(lines) for one in self.elsewhere)


def read(path: Path = FILE) -> Known:
    """The file. ToolError where an entry lacks something."""
    document: dict[str, list[dict[str, Any]]] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        equivalents = tuple(
            Equivalent(one["file"], one["line"], tuple(one["mutants"]), _reason(one))
            for one in document.get("equivalent", ())
        )
        elsewhere = tuple(
            Elsewhere(one["file"], one["begins"], one["ends"], _reason(one)) for one in document.get("elsewhere", ())
        )
    except KeyError as error:
        raise ToolError(f"{path.name}: an entry has no {error}: add it") from None
    return Known(equivalents, elsewhere)


def _reason(entry: dict[str, Any]) -> str:
    if not str(entry["reason"]).strip():
        raise KeyError("reason")
    return str(entry["reason"])
