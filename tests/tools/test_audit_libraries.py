"""A wheel with a spoilt library: each check of libraries finds its own, and names the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import synthetic
from tests.tools.synthetic import CPYTHON, CUDA, HIP, INFO, LIB, LINKS, NEW, OLD, OVERLAY, PLAIN, PYTHON, TABLE

Found = Callable[..., dict[str, str]]
ROW = f"{LIB}/torch2_9_cxx11"
CPU = f"{ROW}/libdlx_torch_cpu.so"


@pytest.fixture
def with_cpu(members: dict[str, bytes], found: Found) -> Callable[..., dict[str, str]]:
    """What is found where the cpu library of torch 2.9 is another: synthetic.library's keywords, or its bytes."""

    def put(data: bytes | None = None, **library: Any) -> dict[str, str]:
        members[CPU] = synthetic.library(**library) if data is None else data
        said = found(members)
        assert all(line.startswith(CPU) for words in said.values() for line in words.splitlines())
        return said

    return put


class TestReadable:
    @pytest.mark.parametrize("data", [b"", b"GROUP ( libc10.so )", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(100)])
    def test_no_library(self, data: bytes, with_cpu: Found) -> None:
        assert set(with_cpu(data)) == {"readable"}

    @pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
    def test_cut_short(self, part: float, with_cpu: Found) -> None:
        whole = synthetic.library()
        assert "damaged" in with_cpu(whole[: int(len(whole) * part)])["readable"]

    def test_for_another_processor(self, with_cpu: Found) -> None:
        said = with_cpu(processor="aarch64")
        assert set(said) == {"readable"}
        assert "is for aarch64, the wheel for x86_64" in said["readable"]


def test_a_library_that_is_too_large(with_cpu: Found) -> None:
    whole = synthetic.library()
    assert with_cpu(whole + bytes(65536 - len(whole))) == {}
    assert set(with_cpu(whole + bytes(65537 - len(whole)))) == {"library_size"}


@pytest.mark.parametrize("name", ["cudart", "c10_cuda", "torch_cuda", "python3.11"])
def test_a_library_that_may_not_be_needed(name: str, with_cpu: Found) -> None:
    said = with_cpu(needs=(*LINKS, name))
    assert set(said) == {"needed"}
    assert f"needs lib{name}.so" in said["needed"]


def test_the_overlay_needs_nothing_of_torch(members: dict[str, bytes], found: Found) -> None:
    members[f"{LIB}/overlay/libdlx_torch_torch_npu.so"] = synthetic.library(
        needs=("c10",), asks=(PYTHON,), exports=OVERLAY
    )
    said = found(members)
    assert set(said) == {"needed", "torch_symbols"}
    assert "THPVariableClass is not in any torch" in said["torch_symbols"]


@pytest.mark.parametrize("flags", [("-Wl,-rpath,/opt/torch/lib",), ("-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags")])
def test_a_search_path(flags: tuple[str, ...], with_cpu: Found) -> None:
    assert "PATH " in with_cpu(flags=flags)["search_path"]


def test_an_export_of_another_name(with_cpu: Found) -> None:
    said = with_cpu(exports=(*TABLE, "PyInit_dlx"))
    assert set(said) == {"exports"}
    assert "exports PyInit_dlx" in said["exports"]


def test_an_export_that_the_loader_misses(with_cpu: Found) -> None:
    assert "does not export dlx_torch_exchange_api" in with_cpu(exports=TABLE[:1])["exports"]


class TestCeilings:
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
    def test_above(self, soname: str, node: str, with_cpu: Found) -> None:
        said = with_cpu(asks=(*CPYTHON, "dlx_versioned"), flags=(synthetic.versioned(soname, node),))
        assert set(said) == {"ceilings"}

    @pytest.mark.parametrize(("soname", "node"), [("libc.so.6", "GLIBC_2.28"), ("libstdc++.so.6", "GLIBCXX_3.4.24")])
    def test_at(self, soname: str, node: str, with_cpu: Found) -> None:
        assert with_cpu(asks=(*CPYTHON, "dlx_versioned"), flags=(synthetic.versioned(soname, node),)) == {}

    def test_above_what_the_tag_promises(self, members: dict[str, bytes], found: Found) -> None:
        members[CPU] = synthetic.library(
            asks=("dlx_versioned",), flags=(synthetic.versioned("libc.so.6", "GLIBC_2.28"),)
        )
        assert "2.28, above 2.17" in found(members, platform="manylinux2014_x86_64")["ceilings"]


class TestStableAbi:
    def test_a_private_function(self, with_cpu: Found) -> None:
        said = with_cpu(asks=("_PyObject_GetDictPtr",))
        assert set(said) == {"stable_abi"}
        assert "_PyObject_GetDictPtr is not in" in said["stable_abi"]

    def test_a_later_function(self, members: dict[str, bytes], with_cpu: Found) -> None:
        assert "PyUnicode_AsUTF8AndSize" in with_cpu(asks=("PyUnicode_AsUTF8AndSize",))["stable_abi"]
        name = f"{INFO}/METADATA"
        members[name] = members[name].replace(b">=3.9", b">=3.10")
        assert with_cpu(asks=("PyUnicode_AsUTF8AndSize",)) == {}


def test_a_symbol_that_nothing_refers_to(with_cpu: Found) -> None:
    said = with_cpu(needs=LINKS[1:], asks=(PLAIN[1],), flags=(synthetic.aliased("libc10.so", PLAIN[1], PLAIN[0]),))
    assert set(said) == {"unused_symbols"}
    assert f"1 undefined symbols that nothing refers to, {len(PLAIN[0]) + 1} bytes" in said["unused_symbols"]


@pytest.mark.parametrize("path", ["/home/someone/torch/include/c10/core/TensorImpl.h", "/tmp/build/export.cc"])
def test_a_path_of_the_build_machine(path: str, with_cpu: Found) -> None:
    assert with_cpu(text=f"CHECK FAILED at {path}:7") == {"build_paths": f"{CPU}: {path}\n"}


@pytest.mark.parametrize("text", ["cpp/src/export.cc", "see https://docs.python.org/3/c-api", "/vMf", "and/or/none"])
def test_what_is_no_path(text: str, with_cpu: Found) -> None:
    assert with_cpu(text=text) == {}


class TestTorchSymbols:
    @pytest.mark.parametrize(
        "name",
        ["_ZN3c1019UndefinedTensorImpl10_singletonX", "_Z16THPVariable_WrapN2at6TensorE", CUDA, "typo", "_ZNSaIcEC1Ev"],
    )
    def test_not_in_that_torch(self, name: str, with_cpu: Found) -> None:
        assert "is not in torch 2.9.1" in with_cpu(asks=(*PLAIN, name))["torch_symbols"]

    def test_of_a_library_that_the_backend_does_not_link(self, with_cpu: Found) -> None:
        assert "getCurrentCUDAStream(signed char) is not in" in with_cpu(asks=(CUDA,))["torch_symbols"]

    def test_a_std_string_that_neither_abi_has(self, members: dict[str, bytes], found: Found) -> None:
        members[f"{LIB}/torch2_5_cxx11/libdlx_torch_cpu.so"] = synthetic.library(
            asks=(NEW.replace("5Error", "5Fault"),)
        )
        said = found(members)
        assert set(said) == {"torch_symbols"}
        assert "c10::Fault::Fault" in said["torch_symbols"]

    @pytest.mark.parametrize(
        ("library", "words"),
        [
            ({"asks": (HIP,)}, "is not weak"),
            ({"weak": (HIP.replace("getCurrentHIPStream", "getCurrentHAPStream"),)}, "is not in torch 2.9.1"),
        ],
    )
    def test_what_hipify_would_not_have_made(
        self, library: dict[str, Any], words: str, members: dict[str, bytes], found: Found
    ) -> None:
        members[f"{ROW}/libdlx_torch_rocm.so"] = synthetic.library(needs=(*LINKS, "c10_hip"), **library)
        assert words in found(members)["torch_symbols"]


class TestCxxAbi:
    def test_the_old_string_in_a_row_of_the_new(self, with_cpu: Found) -> None:
        said = with_cpu(asks=(*PLAIN, OLD))
        assert set(said) == {"cxx_abi"}
        assert "1 symbols of C++ ABI 0, 0 of them weak, in a row of 1" in said["cxx_abi"]

    def test_the_new_string_in_a_row_of_the_old(self, members: dict[str, bytes], found: Found) -> None:
        members[f"{LIB}/torch2_5_cxx98/libdlx_torch_cpu.so"] = synthetic.library()
        assert set(found(members)) == {"cxx_abi"}

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
    def test_names(self, name: str, old: bool, new: bool) -> None:
        from tools.audit import names

        assert (names.of_old_abi(name), names.of_new_abi(name)) == (old, new)
