"""Which files of cpp/src may know torch's classes: those that implement torch_tensor.h, and the backends.

The others have to compile without torch's headers, so that another implementation can stand behind torch_tensor.h."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.settings import ROOT

SOURCES = ROOT / "cpp" / "src"
KNOW_TORCH = ("torch_tensor_inl.h", "torch_tensor.cc", "torch_exceptions.cc")
# A header or a name of torch's; and macros of c10's, which look like ours.
OF_TORCH = re.compile(r"#include <(c10|ATen|torch)/|\b(c10|at|torch|caffe2)::|\b(C10|AT|TORCH)_[A-Z]|\bTHP[A-Z]")


def code(file: Path) -> str:
    """The file without comments and strings."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def others() -> list[Path]:
    files = [file for file in SOURCES.rglob("*") if file.suffix in (".h", ".cc")]
    backends = [file for file in files if file.parent.name == "backends" and file.suffix == ".cc"]
    return sorted(file for file in files if file not in backends and file.name not in KNOW_TORCH)


@pytest.mark.parametrize("file", others(), ids=lambda file: str(file.relative_to(SOURCES)))
def test_no_other_file_names_them(file: Path) -> None:
    assert not [line for line in code(file).splitlines() if OF_TORCH.search(line)]


def test_those_that_may_do() -> None:
    """Else the pattern finds nothing at all."""
    assert all(OF_TORCH.search(code(SOURCES / name)) for name in KNOW_TORCH)
