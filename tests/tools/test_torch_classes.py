"""Only some files of cpp/src use torch's classes: those that implement torch_tensor.h, and the backends.

All others compile without torch's headers, so that torch_tensor.h can get another implementation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.settings import ROOT

SOURCES = ROOT / "cpp" / "src"
MAY_USE_TORCH = ("torch_tensor_inl.h", "torch_tensor.cc", "torch_exceptions.cc")
# torch's headers, namespaces, macros and Python C API.
OF_TORCH = re.compile(r"#include <(c10|ATen|torch)/|\b(c10|at|torch|caffe2)::|\b(C10|AT|TORCH)_[A-Z]|\bTHP[A-Z]")


def code(file: Path) -> str:
    """The file without comments and strings."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def files_without_torch() -> list[Path]:
    files = [file for file in SOURCES.rglob("*") if file.suffix in (".h", ".cc")]
    backends = [file for file in files if file.parent.name == "backends" and file.suffix == ".cc"]
    return sorted(file for file in files if file not in backends and file.name not in MAY_USE_TORCH)


@pytest.mark.parametrize("file", files_without_torch(), ids=lambda file: str(file.relative_to(SOURCES)))
def test_no_other_file_uses_torchs_classes(file: Path) -> None:
    assert not [line for line in code(file).splitlines() if OF_TORCH.search(line)]


def test_the_pattern_finds_them_where_they_are_allowed() -> None:
    """If this fails, the pattern finds nothing, and the test above proves nothing."""
    assert all(OF_TORCH.search(code(SOURCES / name)) for name in MAY_USE_TORCH)
