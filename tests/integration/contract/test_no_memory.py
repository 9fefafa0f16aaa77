"""Each allocation of a call fails once: a MemoryError in one line, and nothing is lost, freed twice or half done."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, Callable

from tests.snippets import no_memory
from tests.support.compiled import library
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.table import table_name

pytestmark = [
    left_out_if(sys.platform != "linux", "glibc has a malloc beneath the one that fails"),
    left_out_if("DLX_TORCH_TEST_SANITIZED" in os.environ, "a sanitizer has a malloc of its own"),
    left_out_if(table_name() != "dlx", "these are rules of ours"),
]
SOURCE = Path(__file__).parents[2] / "support" / "failing_malloc.c"


def answers_of(function: Callable[[], Any]) -> Any:
    return spawn.call(function, env={"LD_PRELOAD": str(library(SOURCE))})


def assert_no_memory(answers: list[tuple[str, str]]) -> None:
    assert answers
    for kind, text in answers:
        assert kind == "MemoryError", answers
        assert re.match("dlx-torch: [a-z]+ ", text) or not text, answers  # CPython's own has no text
        assert "\n" not in text


def test_an_export_that_fails_takes_no_owner() -> None:
    answers, before, after = answers_of(no_memory.of_exports)
    assert_no_memory(answers)
    assert answers == [["MemoryError", "dlx-torch: there is no memory for a managed tensor of 2 dimensions"]]
    assert before == after


def test_an_import_that_fails_leaves_the_managed_tensor() -> None:
    answers, before, after = answers_of(no_memory.of_imports)
    assert_no_memory(answers)
    assert (before, after) == (0, 1)


def test_an_allocation_that_fails_says_so() -> None:
    answers = answers_of(no_memory.of_allocations)
    assert_no_memory(answers)
    assert ["MemoryError", "dlx-torch: there is no memory for a managed tensor of 2 dimensions"] in answers
