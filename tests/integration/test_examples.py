"""The projects of examples/ are built, and pass their own tests with the table of torch.Tensor and without it."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.support import examples
from tests.support.left_out import cases
from tests.support.process.finished import Finished


def why_not(name: str) -> str:
    if missing := examples.missing(name):
        return f"{' and '.join(missing)} not installed, which a session of its own has"
    if name == "cuda" and torch.version.cuda is None:
        return "torch is not built for CUDA"
    return ""


NAMES = sorted(folder.name for folder in examples.EXAMPLES.iterdir())


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("name", cases(NAMES, {name: (why_not(name), why_not(name)) for name in NAMES}))
def test_its_own_tests_pass(name: str, table: bool) -> None:
    passed(examples.run_its_tests(name, table))


@pytest.mark.parametrize("table", [True, False])
def test_one_binary(table: bool, record_testsuite_property: Callable[[str, object], None]) -> None:
    """./dev test shows what is recorded here in a table, and fails if there is more than one binary in it."""
    finished = examples.run_its_tests("c", table)
    count = passed(finished)
    file = Path(finished.value["file"])
    assert file.parent == examples.build("c")
    entry = {
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest()[:16],
        "python": platform.python_version(),
        "torch": torch.__version__,
        "table": finished.value["provider"],
        "passed": str(count),
    }
    record_testsuite_property("one binary", json.dumps(entry))


def passed(finished: Finished) -> int:
    assert finished.value["status"] == 0, str(finished)
    found = re.search(r"^([5-9]|\d\d+) passed in ", finished.stdout, re.M)
    assert found, finished.stdout
    return int(found[1])


def test_nothing_of_this_repository_is_needed() -> None:
    for file in examples.EXAMPLES.glob("*/tests/*.py"):
        assert not re.search(r"^(from|import) (tests|tools|benchmarks)\b", file.read_text(encoding="utf-8"), re.M), file
