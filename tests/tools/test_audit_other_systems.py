"""Wheels for macOS or Windows with one defective library: the right check reports it, as in a wheel for Linux."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import other_systems, synthetic
from tests.tools.other_systems import CXX, EXPORTED, LIBRARY, STRING, TAGS, stub
from tests.tools.synthetic import CPYTHON, EXPORTS, LIB, NO_STRING
from tools.audit import names
from tools.audit.finding import Finding

AuditProblems = Callable[..., dict[str, str]]
both_systems = pytest.mark.parametrize("system", ["macos", "windows"])


@pytest.fixture
def with_library(audit_problems: AuditProblems) -> Callable[..., dict[str, str]]:
    """A function that audits a wheel for `system` with another library, and returns the problems. It takes the bytes of
    that library, or keywords for other_systems.library."""

    def replace_and_audit(system: str, data: bytes | None = None, **library: Any) -> dict[str, str]:
        members = other_systems.good(system)
        members[LIBRARY[system]] = other_systems.library(system, **library) if data is None else data
        return audit_problems(members, platform=TAGS[system])

    return replace_and_audit


@both_systems
def test_a_good_wheel_passes(system: str, run_audit: Callable[..., list[Finding]]) -> None:
    findings = run_audit(other_systems.good(system), platform=TAGS[system])
    assert [(finding.check, finding.note) for finding in findings] == [("complete", True)]


class TestReadable:
    @both_systems
    def test_of_another_system(self, system: str, with_library: AuditProblems) -> None:
        for data in (b"", synthetic.library(), other_systems.library("windows" if system == "macos" else "macos")):
            assert set(with_library(system, data)) == {"readable"}

    @both_systems
    @pytest.mark.parametrize("part", [0.1, 0.5, 0.95])
    def test_cut_short(self, part: float, system: str, with_library: AuditProblems) -> None:
        whole = other_systems.library(system)
        assert set(with_library(system, whole[: int(len(whole) * part)])) == {"readable"}

    @pytest.mark.parametrize(("system", "target"), [("macos", "x86_64-macos.11.0"), ("windows", "aarch64-windows-gnu")])
    def test_for_another_processor(self, system: str, target: str, with_library: AuditProblems) -> None:
        data = other_systems.library(system, target=target, undefined=(), unlinked=True)
        assert "the wheel's tag is for" in with_library(system, data)["readable"]


@both_systems
def test_a_library_that_is_too_large(system: str, with_library: AuditProblems) -> None:
    limit = {"macos": 114688, "windows": 65536}[system]
    whole = other_systems.library(system)
    assert with_library(system, whole + bytes(limit - len(whole))) == {}
    assert set(with_library(system, whole + bytes(limit + 1 - len(whole)))) == {"library_size"}


@pytest.mark.parametrize(
    ("system", "file"),
    [
        ("macos", "@rpath/libtorch_cuda.dylib"),
        ("macos", "@rpath/libc++.1.dylib"),  # conda's
        ("macos", "/Library/Frameworks/Python.framework/Versions/3.12/Python"),
        ("windows", "c10_cuda.dll"),
        ("windows", "python312.dll"),
        ("windows", "libstdc++-6.dll"),
    ],
)
def test_a_library_that_may_not_be_needed(system: str, file: str, with_library: AuditProblems) -> None:
    problems = with_library(system, undefined=(*CPYTHON, "dlx_wanted"), needs=(stub(system, file, "dlx_wanted"),))
    assert f"needs {file}" in problems["needed"]


def test_a_search_path(with_library: AuditProblems) -> None:
    problems = with_library("macos", flags=("-Wl,-rpath,@loader_path/../torch/lib",))
    path = "RPATH @loader_path/../torch/lib"
    assert problems == {"search_path": f"{LIBRARY['macos']}: has the search path {path}; it must have none\n"}


@both_systems
def test_an_export_of_another_name(system: str, with_library: AuditProblems) -> None:
    problems = with_library(system, exports=(*EXPORTS, "PyInit_dlx"))
    assert set(problems) == {"exports"}
    assert "exports PyInit_dlx" in problems["exports"]
    assert "does not export dlx_torch_exchange_api" in with_library(system, exports=EXPORTS[:1])["exports"]


@both_systems
def test_a_function_outside_the_stable_abi(system: str, with_library: AuditProblems) -> None:
    private = "_PyObject_GetDictPtr"
    needs = (stub(system, "python3.dll", private),) if system == "windows" else ()
    assert private in with_library(system, undefined=(private,), needs=needs)["stable_abi"]


@pytest.mark.parametrize(
    ("system", "path"),
    [("macos", "/Users/runner/work/torch/include/Tensor.h"), ("windows", r"D:\\a\\build\\torch\\Tensor.h")],
)
def test_a_path_of_the_build_machine(system: str, path: str, with_library: AuditProblems) -> None:
    problems = with_library(system, text=f"CHECK FAILED at {path}:7")
    shown = path.replace(chr(92) * 2, chr(92))
    text = f"{LIBRARY[system]}: contains the path {shown}; it must contain no absolute path\n"
    assert problems == {"build_paths": text}


class TestMacos:
    def test_for_a_newer_macos_than_the_tag_says(
        self, with_library: AuditProblems, audit_problems: AuditProblems
    ) -> None:
        newer = other_systems.library("macos", target="aarch64-macos.12.3")
        assert (
            "is for macOS 12.3 or newer; the wheel's tag is for macOS 11.0"
            in with_library("macos", newer)["oldest_macos"]
        )
        assert (
            audit_problems({**other_systems.good("macos"), LIBRARY["macos"]: newer}, platform="macosx_13_0_arm64") == {}
        )

    def test_without_a_signature(self, with_library: AuditProblems) -> None:
        signed, other = struct.pack("<II", 0x1D, 16), struct.pack("<II", 0x2B, 16)  # the command's number and size
        assert set(with_library("macos", other_systems.library("macos").replace(signed, other))) == {"signed"}

    def test_a_symbol_of_the_system_that_torch_does_not_use(self, with_library: AuditProblems) -> None:
        new = "_ZNSt3__122__libcpp_verbose_abortEPKcz"
        problems = with_library("macos", undefined=(new,), needs=(stub("macos", "/usr/lib/libc++.1.dylib", CXX, new),))
        assert set(problems) == {"system_symbols"}
        assert (
            "std::__1::__libcpp_verbose_abort(char const*, ...) of /usr/lib/libc++.1.dylib"
            in problems["system_symbols"]
        )

    def test_a_row_of_the_older_abi(self, audit_problems: AuditProblems) -> None:
        entry = {**synthetic.entry("2.5", False, "cpu"), "file": "torch2_5_cxx98/libdlx_torch_cpu.dylib"}
        members = {
            **other_systems.good("macos"),
            f"{LIB}/{entry['file']}": other_systems.library("macos", undefined=()),
        }
        members[f"{LIB}/manifest.json"] = synthetic.manifest([entry], "macos-arm64")
        assert "instead of torch2.5-cxx98-cpu" in audit_problems(members, platform=TAGS["macos"])["reachable"]


def test_on_windows_the_audit_demangles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, spelled in (("linux", "c10::first()"), ("win32", "_ZN3c106secondEv")):
        monkeypatch.setattr(sys, "platform", platform)
        assert names.demangled({"linux": "_ZN3c105firstEv", "win32": "_ZN3c106secondEv"}[platform]) == spelled


class TestTorchSymbols:
    @both_systems
    def test_not_in_that_torch(self, system: str, with_library: AuditProblems) -> None:
        name = NO_STRING[0].replace("torchCheckFail", "torchCheckFall")
        file = other_systems.FILE_NAMES[system].format("c10")
        problems = with_library(system, undefined=(name,), needs=(stub(system, file, name),))
        assert set(problems) == {"torch_symbols"}
        assert "is not in torch 2.9.1" in problems["torch_symbols"]

    @both_systems
    def test_bound_to_a_library_that_does_not_export_it(self, system: str, with_library: AuditProblems) -> None:
        file = other_systems.FILE_NAMES[system].format("torch_python")
        problems = with_library(system, undefined=EXPORTED["c10"][:1], needs=(stub(system, file, *EXPORTED["c10"]),))
        assert set(problems) == {"torch_symbols"}

    def test_bound_to_no_library(self, with_library: AuditProblems) -> None:
        problems = with_library("macos", undefined=(STRING.replace("5Error", "5Fault"),))
        assert "is bound to no library of torch 2.9.1" in problems["torch_symbols"]
