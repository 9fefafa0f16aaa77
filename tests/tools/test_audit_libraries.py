"""Wheels with one defective library: the right check reports it, and names the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import synthetic
from tests.tools.synthetic import (
    CPYTHON,
    CUDA,
    CXX11_STRING,
    CXX98_STRING,
    EXPORTS,
    HIP,
    INFO,
    LIB,
    LINKS,
    NO_STRING,
    OVERLAY_EXPORTS,
    PYTHON,
)

AuditProblems = Callable[..., dict[str, str]]
ROW = f"{LIB}/torch2_9_cxx11"
CPU = f"{ROW}/libdlx_torch_cpu.so"


@pytest.fixture
def with_cpu(members: dict[str, bytes], audit_problems: AuditProblems) -> Callable[..., dict[str, str]]:
    """A function that replaces the cpu library of torch 2.9 and returns the audit's problems. It takes the bytes of the
    new library, or keywords for synthetic.library."""

    def replace_and_audit(data: bytes | None = None, **library: Any) -> dict[str, str]:
        members[CPU] = synthetic.library(**library) if data is None else data
        problems = audit_problems(members)
        assert all(line.startswith(CPU) for text in problems.values() for line in text.splitlines())
        return problems

    return replace_and_audit


class TestReadable:
    @pytest.mark.parametrize("data", [b"", b"GROUP ( libc10.so )", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(100)])
    def test_a_file_that_is_no_library(self, data: bytes, with_cpu: AuditProblems) -> None:
        assert set(with_cpu(data)) == {"readable"}

    @pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
    def test_cut_short(self, part: float, with_cpu: AuditProblems) -> None:
        whole = synthetic.library()
        assert "damaged" in with_cpu(whole[: int(len(whole) * part)])["readable"]

    def test_for_another_processor(self, with_cpu: AuditProblems) -> None:
        problems = with_cpu(processor="aarch64")
        assert set(problems) == {"readable"}
        assert "is for aarch64; the wheel's tag is for x86_64" in problems["readable"]


def test_a_library_that_is_too_large(with_cpu: AuditProblems) -> None:
    whole = synthetic.library()
    assert with_cpu(whole + bytes(65536 - len(whole))) == {}
    assert set(with_cpu(whole + bytes(65537 - len(whole)))) == {"library_size"}


def test_where_pages_are_larger_a_library_may_be_too(audit_problems: AuditProblems) -> None:
    members, whole = synthetic.good("aarch64"), synthetic.library(processor="aarch64")
    for size, problems in ((73728, set()), (73729, {"library_size"})):
        members[CPU] = whole + bytes(size - len(whole))
        assert set(audit_problems(members, platform="manylinux_2_28_aarch64")) == problems


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (("-Wl,-z,norelro",), "-z relro"),
        (("-Wl,-z,lazy",), "-z now"),
        (("-Wl,-z,norelro,-z,lazy",), "-z relro and -z now"),
    ],
)
@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_addresses_that_can_be_overwritten(
    flags: tuple[str, ...], missing: str, processor: str, audit_problems: AuditProblems
) -> None:
    members = synthetic.good(processor)
    members[CPU] = synthetic.library(flags=flags, processor=processor)
    problems = audit_problems(members, platform=f"manylinux_2_28_{processor}")
    text = f"{CPU}: was linked without {missing}; the addresses that it calls can be overwritten\n"
    assert problems == {"relro": text}


@pytest.mark.parametrize("flag", ["-Wl,--disable-new-dtags", "-Wl,--enable-new-dtags"])
def test_linkers_say_in_several_ways_that_all_is_bound_at_once(flag: str, with_cpu: AuditProblems) -> None:
    assert with_cpu(flags=(flag,)) == {}


@pytest.mark.parametrize("name", ["cudart", "c10_cuda", "torch_cuda", "python3.11"])
def test_a_library_that_may_not_be_needed(name: str, with_cpu: AuditProblems) -> None:
    problems = with_cpu(needs=(*LINKS, name))
    assert set(problems) == {"needed"}
    assert f"needs lib{name}.so" in problems["needed"]


def test_the_overlay_needs_nothing_of_torch(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    members[f"{LIB}/overlay/libdlx_torch_torch_npu.so"] = synthetic.library(
        needs=("c10",), undefined=(PYTHON,), exports=OVERLAY_EXPORTS
    )
    problems = audit_problems(members)
    assert set(problems) == {"needed", "torch_symbols"}
    assert "THPVariableClass is not in any torch" in problems["torch_symbols"]


@pytest.mark.parametrize("flags", [("-Wl,-rpath,/opt/torch/lib",), ("-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags")])
def test_a_search_path(flags: tuple[str, ...], with_cpu: AuditProblems) -> None:
    assert "has the search path R" in with_cpu(flags=flags)["search_path"]


def test_an_export_of_another_name(with_cpu: AuditProblems) -> None:
    problems = with_cpu(exports=(*EXPORTS, "PyInit_dlx"))
    assert set(problems) == {"exports"}
    assert "exports PyInit_dlx" in problems["exports"]


def test_an_export_that_is_missing(with_cpu: AuditProblems) -> None:
    assert "does not export dlx_torch_exchange_api" in with_cpu(exports=EXPORTS[:1])["exports"]


class TestSymbolVersions:
    @pytest.mark.parametrize(
        ("soname", "node"),
        [
            ("libc.so.6", "GLIBC_2.29"),
            ("libstdc++.so.6", "GLIBCXX_3.4.25"),
            ("libstdc++.so.6", "CXXABI_1.3.12"),
            ("libstdc++.so.6", "CXXABI_TM_1"),
            ("libc.so.6", "GLIBC_PRIVATE"),
        ],
    )
    def test_above_the_limit(self, soname: str, node: str, with_cpu: AuditProblems) -> None:
        problems = with_cpu(undefined=(*CPYTHON, "dlx_versioned"), flags=(synthetic.versioned(soname, node),))
        assert set(problems) == {"symbol_versions"}

    @pytest.mark.parametrize(("soname", "node"), [("libc.so.6", "GLIBC_2.28"), ("libstdc++.so.6", "GLIBCXX_3.4.24")])
    def test_at_the_limit(self, soname: str, node: str, with_cpu: AuditProblems) -> None:
        assert with_cpu(undefined=(*CPYTHON, "dlx_versioned"), flags=(synthetic.versioned(soname, node),)) == {}

    def test_above_what_the_tag_says(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[CPU] = synthetic.library(
            undefined=("dlx_versioned",), flags=(synthetic.versioned("libc.so.6", "GLIBC_2.28"),)
        )
        assert (
            "needs GLIBC 2.28; at most 2.17 is allowed"
            in audit_problems(members, platform="manylinux2014_x86_64")["symbol_versions"]
        )


class TestStableAbi:
    def test_a_private_function(self, with_cpu: AuditProblems) -> None:
        problems = with_cpu(undefined=("_PyObject_GetDictPtr",))
        assert set(problems) == {"stable_abi"}
        assert "_PyObject_GetDictPtr is not in" in problems["stable_abi"]

    def test_a_later_function(self, members: dict[str, bytes], with_cpu: AuditProblems) -> None:
        assert "PyUnicode_AsUTF8AndSize" in with_cpu(undefined=("PyUnicode_AsUTF8AndSize",))["stable_abi"]
        name = f"{INFO}/METADATA"
        members[name] = members[name].replace(b">=3.9", b">=3.10")
        assert with_cpu(undefined=("PyUnicode_AsUTF8AndSize",)) == {}


@pytest.mark.parametrize("lock", ["__cxa_guard_acquire", "pthread_mutex_lock"])
def test_a_lock(lock: str, with_cpu: AuditProblems) -> None:
    problems = with_cpu(undefined=(*NO_STRING, CXX11_STRING, PYTHON, *CPYTHON, lock))
    assert problems["locks"] == f"{CPU}: uses {lock}, and no lock is allowed in a library\n"


def test_a_symbol_that_nothing_refers_to(with_cpu: AuditProblems) -> None:
    problems = with_cpu(
        needs=LINKS[1:], undefined=(NO_STRING[1],), flags=(synthetic.aliased("libc10.so", NO_STRING[1], NO_STRING[0]),)
    )
    assert set(problems) == {"unused_symbols"}
    assert f"1 undefined symbols that nothing refers to, {len(NO_STRING[0]) + 1} bytes" in problems["unused_symbols"]


@pytest.mark.parametrize("path", ["/home/someone/torch/include/c10/core/TensorImpl.h", "/tmp/build/export.cc"])
def test_a_path_of_the_build_machine(path: str, with_cpu: AuditProblems) -> None:
    problems = with_cpu(text=f"CHECK FAILED at {path}:7")
    assert problems == {"build_paths": f"{CPU}: contains the path {path}; it must contain no absolute path\n"}


@pytest.mark.parametrize("text", ["cpp/src/export.cc", "see https://docs.python.org/3/c-api", "/vMf", "and/or/none"])
def test_a_text_that_is_no_path_of_a_machine(text: str, with_cpu: AuditProblems) -> None:
    assert with_cpu(text=text) == {}


class TestTorchSymbols:
    @pytest.mark.parametrize(
        "name",
        ["_ZN3c1019UndefinedTensorImpl10_singletonX", "_Z16THPVariable_WrapN2at6TensorE", CUDA, "typo", "_ZNSaIcEC1Ev"],
    )
    def test_not_in_that_torch(self, name: str, with_cpu: AuditProblems) -> None:
        assert "is not in torch 2.9.1" in with_cpu(undefined=(*NO_STRING, name))["torch_symbols"]

    def test_in_a_library_that_the_backend_does_not_link(self, with_cpu: AuditProblems) -> None:
        assert "getCurrentCUDAStream(signed char) is not in" in with_cpu(undefined=(CUDA,))["torch_symbols"]

    def test_a_std_string_that_neither_abi_has(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[f"{LIB}/torch2_5_cxx11/libdlx_torch_cpu.so"] = synthetic.library(
            undefined=(CXX11_STRING.replace("5Error", "5Fault"),)
        )
        problems = audit_problems(members)
        assert set(problems) == {"torch_symbols"}
        assert "c10::Fault::Fault" in problems["torch_symbols"]

    @pytest.mark.parametrize(
        ("library", "text"),
        [
            ({"undefined": (HIP,)}, "is not weak"),
            ({"weak": (HIP.replace("getCurrentHIPStream", "getCurrentHAPStream"),)}, "is not in torch 2.9.1"),
        ],
    )
    def test_a_name_that_hipify_would_not_make(
        self, library: dict[str, Any], text: str, members: dict[str, bytes], audit_problems: AuditProblems
    ) -> None:
        members[f"{ROW}/libdlx_torch_rocm.so"] = synthetic.library(needs=(*LINKS, "c10_hip"), **library)
        assert text in audit_problems(members)["torch_symbols"]


class TestCxxAbi:
    def test_the_older_string_in_a_row_of_the_newer_abi(self, with_cpu: AuditProblems) -> None:
        problems = with_cpu(undefined=(*NO_STRING, CXX98_STRING))
        assert set(problems) == {"cxx_abi"}
        assert "uses 1 symbols of the older C++ ABI in a row of the newer, 0 of them weak" in problems["cxx_abi"]

    def test_the_newer_string_in_a_row_of_the_older_abi(
        self, members: dict[str, bytes], audit_problems: AuditProblems
    ) -> None:
        members[f"{LIB}/torch2_5_cxx98/libdlx_torch_cpu.so"] = synthetic.library()
        assert set(audit_problems(members)) == {"cxx_abi"}

    @pytest.mark.parametrize(
        ("name", "old", "new"),
        [
            ("_ZNSsD1Ev", True, False),
            ("_ZNSt13runtime_errorC1ERKSs", True, False),
            ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE10_M_disposeEv", False, True),
            ("_ZNK3c105Error4whatB5cxx11Ev", False, True),
            ("_ZN3c106formatESt17basic_string_viewIcSt11char_traitsIcEE", False, False),
            ("_ZN3c107ClassSsEv", False, False),
            ("_ZN3c109SsSsSbSbE", False, False),
            ("strlen", False, False),
        ],
    )
    def test_which_abi_a_name_belongs_to(self, name: str, old: bool, new: bool) -> None:
        from tools.audit import names

        assert (names.is_cxx98_only(name), names.is_cxx11_only(name)) == (old, new)
