"""A mutant, what became of it, and the file that keeps the results."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

# What became of a mutant. Only those in COUNTED say something about the tests.
KILLED, SURVIVED = "killed", "survived"
NOT_COMPILED, IDENTICAL, LISTED = "not compiled", "identical", "listed"
COUNTED = (KILLED, SURVIVED)


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the lines `before`, from line number `line` on, become the lines `after`."""

    file: str
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def change(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The change without its place, which moves when the file is edited."""
        return self.file, self.before, self.after

    def apply(self, source: str) -> str:
        """The mutated source."""
        lines = source.splitlines()
        start = self.line - 1
        if tuple(lines[start : start + len(self.before)]) != self.before:
            raise ValueError(f"{self.file} has changed at line {self.line}")
        lines[start : start + len(self.before)] = self.after
        return "\n".join(lines) + "\n"

    def found_in(self, source: str) -> Mutant | None:
        """The same change in a source that was edited elsewhere since; None where its lines are gone."""
        lines, count = source.splitlines(), len(self.before)
        places = [i for i in range(len(lines) - count + 1) if tuple(lines[i : i + count]) == self.before]
        nearest = min(places, key=lambda place: abs(place + 1 - self.line), default=None)
        return None if nearest is None else Mutant(self.file, nearest + 1, self.before, self.after)

    def diff(self) -> str:
        """What changed, as in a unified diff."""
        lines = [f"{self.file}:{self.line}"]
        lines += [f"- {text.strip()}" for text in self.before]
        lines += [f"+ {text.strip()}" for text in self.after]
        return "\n".join(lines)


@dataclass(frozen=True)
class Result:
    """What became of a mutant; `by` names the test that failed, the signal, or the reason why it is not counted."""

    mutant: Mutant
    verdict: str
    by: str = ""
    seconds: float = 0.0


def between(file: str, source: str, mutated: str) -> Mutant | None:
    """The change that makes `mutated` of `source`; None where there is none."""
    old, new = source.splitlines(), mutated.splitlines()
    changes = [op for op in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if op[0] != "equal"]
    if not changes:
        return None
    old_start, old_end, new_start, new_end = changes[0][1], changes[-1][2], changes[0][3], changes[-1][4]
    if old_start == old_end:  # lines were only added: the line before them tells where
        old_start, new_start = old_start - 1, new_start - 1
    return Mutant(file, old_start + 1, tuple(old[old_start:old_end]), tuple(new[new_start:new_end]))


def write(path: Path, results: Iterable[Result], **about: object) -> None:
    """Writes results as JSON, with facts about the run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps({**about, "results": [asdict(one) for one in results]}, indent=1), encoding="utf-8")
    new.replace(path)


def read(path: Path) -> list[Result]:
    """The results that `write` has written."""
    entries = json.loads(path.read_text(encoding="utf-8"))["results"]
    return [Result(**{**entry, "mutant": _mutant(entry["mutant"])}) for entry in entries]


def _mutant(entry: dict[str, object]) -> Mutant:
    return Mutant(str(entry["file"]), int(str(entry["line"])), _lines(entry["before"]), _lines(entry["after"]))


def _lines(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
