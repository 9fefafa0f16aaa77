"""What ./dev fuzz runs: the library of one row twice, for libFuzzer and for coverage, and the target of tests/fuzz."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.sources import SOURCES
from tools.build import one_row
from tools.fuzz.clang import Clang
from tools.settings import run

SANITIZERS = "address,undefined"


def fuzzed_library(clang: Clang, backend: str) -> Path:
    """The row's library, with the two sanitizers, and with the counters that guide libFuzzer."""
    return _library("fuzz", clang, backend, DLX_TORCH_SANITIZE=f"{SANITIZERS},fuzzer-no-link")


def covered_library(clang: Clang, backend: str) -> Path:
    """The row's library as it is published, but for the counters of clang's source-based coverage."""
    flags = "-fprofile-instr-generate -fcoverage-mapping"
    return _library("coverage", clang, backend, CMAKE_CXX_FLAGS=flags)


def _library(kind: str, clang: Clang, backend: str, **definitions: str) -> Path:
    definitions |= {"CMAKE_CXX_COMPILER": clang.tool("clang++"), "DLX_TORCH_BACKENDS": backend}
    folder = one_row.configure(kind, definitions, clang.environment())
    one_row.build(folder, clang.environment())
    return one_row.library(folder, backend)


def target(clang: Clang, folder: Path) -> Path:
    """The target under the sanitizers. It is compiled each time, which takes seconds."""
    import tvm_ffi.libinfo  # not at the top: the tests of the tools do without it

    made = folder / "target.so"
    include = tvm_ffi.libinfo.find_dlpack_include_path()
    flags = ["-std=c++17", "-O1", "-g", "-pthread", f"-I{include}", f"-fsanitize={SANITIZERS}", "-fno-sanitize=vptr"]
    _link(clang, made, *flags, *map(str, SOURCES))
    return made


def libfuzzer(clang: Clang, folder: Path) -> Path:
    """libFuzzer as a library, to be loaded before everything else. ASan has empty functions of the names by which an
    instrumented library reports to libFuzzer, and the first library that has a name gets the calls."""
    made = folder / "libfuzzer.so"
    archive = str(clang.runtime("libclang_rt.fuzzer_no_main"))
    _link(clang, made, "-fsanitize=address", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive")
    return made


def _link(clang: Clang, made: Path, *words: str) -> None:
    command = [clang.tool("clang++"), "-shared", "-fPIC", "-shared-libsan", *words, "-o", str(made)]
    run(command, what=f"compiling {made.name}", env=clang.environment())
