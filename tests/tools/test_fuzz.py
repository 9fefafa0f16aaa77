"""What ./dev fuzz reads out of libFuzzer's output and of llvm-cov's."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fuzz.sources import COUNTED
from tools.fuzz import coverage, guided

DONE = "INFO: Seed: 1\n#9 DONE cov: 700 ft: 900\nDone 145282 runs in 31 second(s)\n"
CRASH = """#35 NEW cov: 757 ft: 2852
tests/fuzz/import.cc:61: g_deleted == 0: deleted while the tensor lives
==7==ERROR: AddressSanitizer: ABRT on unknown address
SUMMARY: AddressSanitizer: ABRT pthread_kill.c:44:76
artifact_prefix='/x/'; Test unit written to /x/crash-648884e1
"""


def counts(folder: Path) -> Path:
    file = folder / "counts"
    file.write_text("".join(f"{10 * i} {i}\n" for i, _ in enumerate(COUNTED)))
    return file


def test_processes_are_added_up(tmp_path: Path) -> None:
    result = guided.Result()
    for _ in range(2):
        guided._add(result, 0, counts(tmp_path), DONE)
    assert (result.inputs, result.seconds, result.findings, result.problem) == (290564, 31.0, [], "")
    assert result.counts == {name: (20 * i, 2 * i) for i, name in enumerate(COUNTED)}


def test_a_finding_comes_with_the_first_line_that_says_what_was_wrong(tmp_path: Path) -> None:
    result = guided.Result()
    guided._add(result, 1, tmp_path / "none", CRASH)
    said = "tests/fuzz/import.cc:61: g_deleted == 0: deleted while the tensor lives"
    assert result.findings == [(Path("/x/crash-648884e1"), said)]
    assert not result.problem


def test_a_process_that_does_not_start_is_a_problem(tmp_path: Path) -> None:
    result = guided.Result()
    guided._add(result, 1, tmp_path / "none", "ModuleNotFoundError: No module named 'torch'\n")
    assert "ended with status 1" in result.problem
    assert "No module named 'torch'" in result.problem


def test_only_files_of_ours_are_covered() -> None:
    def entry(name: str, covered: int) -> dict[str, object]:
        summary = {kind: {"covered": covered, "count": 20} for kind in ("lines", "branches")}
        return {"filename": name, "summary": summary}

    files = [entry("/cpp/src/import.cc", 19), entry("/sdk/torch/include/c10/core/Storage.h", 3)]
    text = json.dumps({"data": [{"files": files}]})
    assert list(coverage._files(text)) == [coverage.File("import.cc", (19, 20), (19, 20))]
