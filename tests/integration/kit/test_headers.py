"""The headers as a compiler sees them: in C and in C++, with the limited API and without, twice in one library."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import dlx_torch_ext
import pytest
import torch

from tests.support import kit
from tests.support.compiled import library
from tests.support.left_out import left_out_if
from tests.support.process.finished import ROOT

INCLUDE = Path(dlx_torch_ext.get_include())
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in (INCLUDE / "dlx").rglob("*.h"))
CASTERS = {f"dlx/{name}.h" for name in ("casters", "nanobind", "pybind11")}  # they throw; examples/ compile them
CORE = [name for name in HEADERS if "core" in name]


def compile_only(language: str, program: str, *flags: str) -> None:
    compiler = os.environ.get("CXX", "c++") if language == "c++" else os.environ.get("CC", "cc")
    command = [*shlex.split(compiler), "-x", language, "-fsyntax-only", *kit.WARNINGS, *kit.includes(), *flags, "-"]
    done = subprocess.run(command, input=program, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_header_stands_alone() -> None:
    for name in set(HEADERS) - CASTERS:
        compile_only("c++", f"#include <{name}>\n", "-std=c++17", "-fno-exceptions", "-fno-rtti")


def test_without_a_gil_it_compiles() -> None:
    compile_only("c++", "#include <dlx/consumer.h>\n", "-std=c++17", "-DPy_GIL_DISABLED")
    compile_only("c", "#include <dlx/consumer_core.h>\n", "-std=c11", "-DPy_GIL_DISABLED", "-Wno-unused-function")


def test_a_later_standard() -> None:
    compile_only("c++", "#include <dlx/consumer.h>\n", "-std=c++20")


def test_the_core_is_c() -> None:
    for name in CORE:
        compile_only("c", f"#include <{name}>\n", "-std=c11", kit.LIMITED, "-Wno-unused-function")


@pytest.mark.parametrize("defined", ["-DPy_LIMITED_API=0x03090000", "-DDLPACK_DLPACK_H_ -DDLPACK_MAJOR_VERSION=0"])
def test_what_cannot_work_says_so_when_it_is_compiled(defined: str) -> None:
    with pytest.raises(AssertionError, match=r'error: #error "dlx/consumer.h needs '):
        compile_only("c++", "#include <dlx/consumer.h>\n", "-std=c++17", *defined.split())


def test_without_the_limited_api() -> None:
    built = kit.load(kit.build(limited=False))
    assert built.saxpy(1.0, torch.ones(2), torch.ones(2)).tolist() == [2.0, 2.0]


@left_out_if(sys.platform != "linux", "nm of other systems prints otherwise")
def test_a_library_shares_nothing_with_another() -> None:
    listed = subprocess.run(["nm", "-D", "--defined-only", kit.build()], capture_output=True, text=True, check=True)
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert "PyInit_kit" in names
    assert [name for name in names if "dlx" in name] == []


def test_the_example_in_c_works() -> None:
    sources = sorted((ROOT / "examples" / "c" / "src").glob("*.c"))
    rest = [str(source) for source in sources[1:]]
    flags = ("-std=c11", *kit.WARNINGS, *([kit.LIMITED] if sys.version_info >= (3, 10) else []), *kit.includes())
    made = library(sources[0], *flags, *rest, "-lm", f"-DHEADERS_{kit.digest()}")
    example = kit.load(made, "dlx_example_c")
    x = torch.randn(3, 7)
    assert torch.allclose(example.softmax(x), torch.softmax(x, 1))
    out = torch.empty(7)
    assert example.saxpy(2.0, x[0], x[1], out=out) is out
    assert torch.equal(out, 2 * x[0] + x[1])
    with pytest.raises(TypeError, match=r"^saxpy: argument 'x': a tensor is needed; 'list' has neither"):
        example.saxpy(1.0, [1.0], x[0])
