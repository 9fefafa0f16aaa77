"""A wheel for macOS or Windows with a spoilt library: each check finds its own, as in one for Linux."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import other_systems, synthetic
from tests.tools.other_systems import CXX, HAVE, LIBRARY, STRING, TAGS, stub
from tests.tools.synthetic import CPYTHON, LIB, PLAIN, TABLE
from tools.audit import names
from tools.audit.finding import Finding

Found = Callable[..., dict[str, str]]
BOTH = pytest.mark.parametrize("system", ["macos", "windows"])


@pytest.fixture
def with_library(found: Found) -> Callable[..., dict[str, str]]:
    """What is found in a wheel for `system` where its library is another one: made from the keywords, or `data`."""

    def put(system: str, data: bytes | None = None, **library: Any) -> dict[str, str]:
        members = other_systems.good(system)
        members[LIBRARY[system]] = other_systems.library(system, **library) if data is None else data
        return found(members, platform=TAGS[system])

    return put


@BOTH
def test_a_good_wheel_passes(system: str, look: Callable[..., list[Finding]]) -> None:
    findings = look(other_systems.good(system), platform=TAGS[system])
    assert [(finding.check, finding.note) for finding in findings] == [("complete", True)]


class TestReadable:
    @BOTH
    def test_of_another_system(self, system: str, with_library: Found) -> None:
        for data in (b"", synthetic.library(), other_systems.library("windows" if system == "macos" else "macos")):
            assert set(with_library(system, data)) == {"readable"}

    @BOTH
    @pytest.mark.parametrize("part", [0.1, 0.5, 0.95])
    def test_cut_short(self, part: float, system: str, with_library: Found) -> None:
        whole = other_systems.library(system)
        assert set(with_library(system, whole[: int(len(whole) * part)])) == {"readable"}

    @pytest.mark.parametrize(("system", "target"), [("macos", "x86_64-macos.11.0"), ("windows", "aarch64-windows-gnu")])
    def test_for_another_processor(self, system: str, target: str, with_library: Found) -> None:
        data = other_systems.library(system, target=target, asks=(), bare=True)
        assert "the wheel for" in with_library(system, data)["readable"]


@BOTH
def test_a_library_that_is_too_large(system: str, with_library: Found) -> None:
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
def test_a_library_that_may_not_be_needed(system: str, file: str, with_library: Found) -> None:
    said = with_library(system, asks=(*CPYTHON, "dlx_wanted"), needs=(stub(system, file, "dlx_wanted"),))
    assert f"needs {file}" in said["needed"]


def test_a_search_path(with_library: Found) -> None:
    said = with_library("macos", flags=("-Wl,-rpath,@loader_path/../torch/lib",))
    assert said == {"search_path": f"{LIBRARY['macos']}: has RPATH @loader_path/../torch/lib\n"}


@BOTH
def test_an_export_of_another_name(system: str, with_library: Found) -> None:
    said = with_library(system, exports=(*TABLE, "PyInit_dlx"))
    assert set(said) == {"exports"}
    assert "exports PyInit_dlx" in said["exports"]
    assert "does not export dlx_torch_exchange_api" in with_library(system, exports=TABLE[:1])["exports"]


@BOTH
def test_a_function_outside_the_stable_abi(system: str, with_library: Found) -> None:
    private = "_PyObject_GetDictPtr"
    needs = (stub(system, "python3.dll", private),) if system == "windows" else ()
    assert private in with_library(system, asks=(private,), needs=needs)["stable_abi"]


@pytest.mark.parametrize(
    ("system", "path"),
    [("macos", "/Users/runner/work/torch/include/Tensor.h"), ("windows", r"D:\\a\\build\\torch\\Tensor.h")],
)
def test_a_path_of_the_build_machine(system: str, path: str, with_library: Found) -> None:
    said = with_library(system, text=f"CHECK FAILED at {path}:7")
    assert said == {"build_paths": f"{LIBRARY[system]}: {path.replace(chr(92) * 2, chr(92))}\n"}


class TestMacos:
    def test_newer_than_the_tag_promises(self, with_library: Found, found: Found) -> None:
        newer = other_systems.library("macos", target="aarch64-macos.12.3")
        assert "is for macOS 12.3, and the tag promises 11.0" in with_library("macos", newer)["oldest_macos"]
        assert found({**other_systems.good("macos"), LIBRARY["macos"]: newer}, platform="macosx_13_0_arm64") == {}

    def test_without_a_signature(self, with_library: Found) -> None:
        signed, other = struct.pack("<II", 0x1D, 16), struct.pack("<II", 0x2B, 16)  # the command's number and size
        assert set(with_library("macos", other_systems.library("macos").replace(signed, other))) == {"signed"}

    def test_what_torch_does_not_ask_of_the_system(self, with_library: Found) -> None:
        new = "_ZNSt3__122__libcpp_verbose_abortEPKcz"
        said = with_library("macos", asks=(new,), needs=(stub("macos", "/usr/lib/libc++.1.dylib", CXX, new),))
        assert set(said) == {"system_symbols"}
        assert "std::__1::__libcpp_verbose_abort(char const*, ...) of /usr/lib/libc++.1.dylib" in said["system_symbols"]

    def test_a_row_of_the_older_abi(self, found: Found) -> None:
        entry = {**synthetic.entry("2.5", False, "cpu"), "file": "torch2_5_cxx98/libdlx_torch_cpu.dylib"}
        members = {**other_systems.good("macos"), f"{LIB}/{entry['file']}": other_systems.library("macos", asks=())}
        members[f"{LIB}/manifest.json"] = synthetic.manifest([entry], "macos-arm64")
        assert "where torch2.5-cxx98-cpu should serve" in found(members, platform=TAGS["macos"])["reachable"]


def test_the_audit_on_windows_has_nothing_to_demangle_with(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, spelled in (("linux", "c10::first()"), ("win32", "_ZN3c106secondEv")):
        monkeypatch.setattr(sys, "platform", platform)
        assert names.demangled({"linux": "_ZN3c105firstEv", "win32": "_ZN3c106secondEv"}[platform]) == spelled


class TestTorchSymbols:
    @BOTH
    def test_not_in_that_torch(self, system: str, with_library: Found) -> None:
        name = PLAIN[0].replace("torchCheckFail", "torchCheckFall")
        file = other_systems.FILES[system].format("c10")
        said = with_library(system, asks=(name,), needs=(stub(system, file, name),))
        assert set(said) == {"torch_symbols"}
        assert "is not in torch 2.9.1" in said["torch_symbols"]

    @BOTH
    def test_bound_to_another_library_than_has_it(self, system: str, with_library: Found) -> None:
        file = other_systems.FILES[system].format("torch_python")
        said = with_library(system, asks=HAVE["c10"][:1], needs=(stub(system, file, *HAVE["c10"]),))
        assert set(said) == {"torch_symbols"}

    def test_bound_to_no_library(self, with_library: Found) -> None:
        said = with_library("macos", asks=(STRING.replace("5Error", "5Fault"),))
        assert "is bound to no library of torch 2.9.1" in said["torch_symbols"]
