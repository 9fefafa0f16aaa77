"""The projects of examples/ are built, and pass their own tests with the table of torch.Tensor and without it."""

from __future__ import annotations

import re

import pytest
import torch

from tests.support import examples
from tests.support.left_out import cases

WITHOUT_TABLE = {"DLX_TORCH_DISABLE": "1", "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}


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
    finished = examples.run_its_tests(name, **({} if table else WITHOUT_TABLE))
    assert finished.status == 0, str(finished)
    assert re.search(r"^[5-9]\d* passed in ", finished.stdout, re.M), finished.stdout


def test_nothing_of_this_repository_is_needed() -> None:
    for file in examples.EXAMPLES.glob("*/tests/*.py"):
        assert not re.search(r"^(from|import) (tests|tools|benchmarks)\b", file.read_text(encoding="utf-8"), re.M), file
