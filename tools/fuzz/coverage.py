"""Which lines of cpp/src the corpus and the test of export run: clang's source-based coverage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.fuzz.clang import Clang
from tools.settings import ROOT, run
from tools.testing.environments import Environment

EXPORT_TEST = "tests/integration/contract/test_export_of_views.py"


@dataclass(frozen=True)
class File:
    """How many of the lines and branches of a file were run, and how many there are."""

    name: str
    lines: tuple[int, int]
    branches: tuple[int, int]


def measure(clang: Clang, environment: Environment, library: Path, corpus: Path, scratch: Path) -> list[File]:
    """Replay the corpus and run the test of export with a library that counts."""
    shutil.rmtree(scratch, ignore_errors=True)
    variables = environment.variables(
        PYTHONPATH=str(ROOT / "python"),
        PYTHONDONTWRITEBYTECODE="1",
        DLX_TORCH_LIBRARY=str(library),
        LLVM_PROFILE_FILE=str(scratch / "%p.profraw"),
    )
    python = str(environment.python)
    run([python, "-m", "tests.fuzz.replay", str(corpus)], what="replaying the corpus", env=variables, cwd=ROOT)
    # A fork would end without writing its counts.
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--inline", EXPORT_TEST]
    run(command, what="the test of export", env=variables, cwd=ROOT)
    merged = scratch / "all.profdata"
    profiles = map(str, scratch.glob("*.profraw"))
    merge = [clang.tool("llvm-profdata"), "merge", "-o", str(merged), *profiles]
    run(merge, what="merging the counts", env=clang.environment())
    export = [clang.tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}", str(library)]
    return list(_files(run(export, what="reading the counts", env=clang.environment())))


def _files(text: str) -> Iterator[File]:
    """Those of cpp/src in llvm-cov's JSON. Their paths begin with a slash in place of the checkout's folder."""
    for entry in json.loads(text)["data"][0]["files"]:
        _, found, name = entry["filename"].rpartition("cpp/src/")
        if found:
            lines, branches = entry["summary"]["lines"], entry["summary"]["branches"]
            counts = [(kind["covered"], kind["count"]) for kind in (lines, branches)]
            yield File(name, counts[0], counts[1])
