"""The mutants of C++ files, by the rules of universalmutator."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

from tools.mutate.known import Known
from tools.mutate.mutant import Mutant
from tools.mutate.plausible import is_plausible, words_of

# The five functions and what serves them. Other backends than this row's cuda, the overlay, and the switches that
# tests/tools/test_switches.py runs by itself are left out.
FILES = tuple(
    f"cpp/src/{name}"
    for name in (
        "allocate.cc",
        "backends/cuda.cc",
        "deferred.cc",
        "deferred.h",
        "devices.cc",
        "devices.h",
        "dtypes.cc",
        "dtypes.h",
        "errors.cc",
        "export.cc",
        "forks.cc",
        "forks.h",
        "from_blob.h",
        "import.cc",
        "incoming.cc",
        "layout.cc",
        "managed_block.cc",
        "managed_block.h",
        "overflow.h",
        "stream.cc",
        "table.cc",
        "torch_exceptions.cc",
        "torch_tensor.cc",
        "torch_tensor.h",
        "torch_tensor_inl.h",
    )
)
_RULES = ["universal.rules", "c_like.rules", "cpp.rules"]
_NO_CODE = [r"^\s*#", r"static_assert"]  # the preprocessor's lines, and what only the compiler reads


def candidates(root: Path, known: Known, files: tuple[str, ...] = FILES) -> Iterator[Mutant]:
    """Every mutant of the files that may compile."""
    from universalmutator.mutator import mutants_regexp  # only `./dev mutate` installs it

    words = words_of([(root / file).read_text(encoding="utf-8") for file in files])
    for file in files:
        lines = (root / file).read_text(encoding="utf-8").splitlines(keepends=True)
        elsewhere = {n for one in known.elsewhere if one.file == file for n in one.lines(lines)}
        with contextlib.redirect_stdout(io.StringIO()):  # it prints the names of the rules
            found = mutants_regexp(lines, _RULES, ignorePatterns=_NO_CODE, ignoreStringOnly=True)
        for line, mutated, *_ in found:
            before, after = lines[line - 1].rstrip("\n"), tuple(mutated.rstrip("\n").split("\n"))
            if line not in elsewhere and is_plausible(before, after, lines, line, words):
                yield Mutant(file, line, (before,), after)
