"""The loader rejects every kind of wrong or damaged library, and none of them crashes the process."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _elf, _load
from dlx_torch_ext._facts import Table
from dlx_torch_ext._load import Library, load
from dlx_torch_ext._resolve import LIBRARY_VARIABLE, Accepted, Candidate, Rejected

from tests.support import stub
from tests.support.installation import facts
from tests.support.left_out import left_out_if
from tests.support.privileges import bound_by_permissions
from tests.support.process import spawn


def attempt(path: Path, provider: str = "dlx", backend: str = "cpu", **changes: Any) -> Library | Rejected:
    return load(Candidate("x", provider, Accepted(""), backend, str(path)), facts(**changes))


def refused(path: Path, **situation: Any) -> str:
    verdict = attempt(path, **situation)
    assert isinstance(verdict, Rejected)
    assert "\n" not in verdict.reason
    assert str(path) in verdict.reason
    return verdict.reason


def test_a_library_that_fits() -> None:
    library = attempt(stub.compiled())
    assert isinstance(library, Library)
    assert (library.path, library.version) == (str(stub.compiled()), "0.1.0")
    assert library.table


def test_a_library_stays_loaded_and_is_opened_once() -> None:
    assert attempt(stub.compiled()) == attempt(stub.compiled())
    assert str(stub.compiled()) in _load._handles


@pytest.mark.parametrize(
    ("macros", "words"),
    [
        (("ABI=2",), "interface number 2, this version of dlx-torch-ext needs 1: reinstall dlx-torch-ext"),
        (("ABI=0",), "interface number 0"),
        (('BACKEND="cuda"',), "built for cuda, this torch needs cpu: reinstall dlx-torch-ext"),
        (('BACKEND=""',), "built for no backend"),
        (("BACKEND=0",), "built for no backend"),
        (("MINOR=8",), "built for torch 2.8, this is torch 2.9.1+cpu: reinstall dlx-torch-ext"),
        (("MAJOR=3",), "built for torch 3.9"),
        (("CXX11_ABI=0",), "C++ ABI 0, this torch has 1"),
        (("DLPACK_MINOR=2",), "DLPack 1.2, needed is 1.3 or a newer 1.x: reinstall dlx-torch-ext"),
        (("NO_TABLE",), "has no table for this Python, whose PyObject has"),
        (("NOT_OURS",), "is not a library of dlx-torch-ext (undefined symbol: dlx_torch_build_info)"),
        (("FAKE_TORCH",), "is not a library of dlx-torch-ext (undefined symbol: dlx_torch_build_info)"),
        (("MISSING_SYMBOL",), "dlx_a_symbol_that_nobody_has"),
    ],
)
def test_a_library_that_does_not_fit(macros: tuple[str, ...], words: str) -> None:
    assert words in refused(stub.compiled(*macros))


def test_a_newer_dlpack_of_the_same_major_is_fine() -> None:
    assert isinstance(attempt(stub.compiled("DLPACK_MINOR=4")), Library)


def test_the_message_names_the_abi_of_both_sides() -> None:
    assert "C++ ABI 1, this torch has 0" in refused(stub.compiled(), cxx11_abi=False)


def test_the_overlay_fits_any_torch() -> None:
    path = stub.compiled('BACKEND="torch_npu"', "MAJOR=0", "MINOR=0", "CXX11_ABI=0")
    beneath = Table("upstream", 64)
    assert isinstance(attempt(path, provider="overlay", backend="torch_npu", torch="2.14.0", table=beneath), Library)
    assert "built for torch 0.0" in refused(path, backend="torch_npu", torch="2.14.0")
    assert "cannot replace functions of torch's own table" in refused(
        path, provider="overlay", backend="torch_npu", torch="2.14.0"
    )


def test_the_overlay_is_asked_for_a_table_over_torchs_own() -> None:
    """Not for the table of a variant, which this library does not have."""
    path = stub.compiled('BACKEND="torch_npu"', "NO_TABLE")
    beneath = Table("upstream", 64)
    assert isinstance(attempt(path, provider="overlay", backend="torch_npu", table=beneath), Library)
    assert "has no table for this Python" in refused(path, backend="torch_npu", table=beneath)


def test_a_missing_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "no.so").endswith("does not exist: reinstall dlx-torch-ext")
    named = load(Candidate(LIBRARY_VARIABLE, "dlx", Accepted(""), "cpu", str(tmp_path / "no.so")), facts())
    assert isinstance(named, Rejected)
    assert named.reason.endswith("does not exist: correct DLX_TORCH_LIBRARY")
    (tmp_path / "file").write_text("")
    assert "cannot be loaded" in refused(tmp_path / "file" / "no.so")


def test_a_folder(tmp_path: Path) -> None:
    assert "cannot be loaded" in refused(tmp_path)


@left_out_if(sys.platform == "win32", "Windows has other permissions")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = stub.library(tmp_path / "closed.so")
    path.chmod(0)
    with bound_by_permissions():
        assert "Permission denied" in refused(path)


@left_out_if(sys.platform == "win32", "Windows has other permissions")
def test_a_folder_that_may_not_be_searched(tmp_path: Path) -> None:
    path = stub.library(tmp_path / "closed" / "library.so")
    path.parent.chmod(0)
    with bound_by_permissions():
        reason = refused(path)
    path.parent.chmod(0o755)
    assert "Permission denied" in reason


@left_out_if(sys.platform == "win32", "Windows has other permissions")
@pytest.mark.fault("a read-only installation", "works")
def test_a_read_only_installation(tmp_path: Path) -> None:
    path = stub.library(tmp_path / "lib" / "closed.so")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    with bound_by_permissions():
        with pytest.raises(PermissionError):
            (path.parent / "new").touch()
        found = attempt(path)
    path.parent.chmod(0o755)
    assert isinstance(found, Library)
    assert os.listdir(path.parent) == ["closed.so"], "a file was written beside it"


def test_a_relative_path_is_one_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's loader would look for a bare name elsewhere, and the path means another file in another folder."""
    stub.library(tmp_path / "here.so")
    monkeypatch.chdir(tmp_path)
    library = attempt(Path("here.so"))
    assert isinstance(library, Library)
    assert library.path == str(tmp_path / "here.so")
    assert refused(Path("gone.so")).startswith(f"{tmp_path / 'gone.so'} does not exist")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "does not exist" in refused(Path("here.so"))


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a library at all, but long enough for a header" * 4])
def test_a_file_that_is_no_library(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.so"
    path.write_bytes(content)
    reason = refused(path)
    assert "truncated" in reason or "not a 64-bit" in reason


def reasons_of_truncated(folder: str, lengths: list[int]) -> list[str]:
    return [refused(Path(folder) / f"{length}.so") for length in lengths]


@left_out_if(sys.platform != "linux", "only the loader of Linux crashes there")
@pytest.mark.fault("a library cut off anywhere", "passed over: truncated")
def test_a_library_truncated_anywhere_is_rejected_and_does_not_crash(tmp_path: Path) -> None:
    whole = stub.compiled().read_bytes()
    lengths = sorted({*range(0, 130, 3), *range(130, len(whole), len(whole) // 150), len(whole) - 1, len(whole) - 64})
    for length in lengths:
        (tmp_path / f"{length}.so").write_bytes(whole[:length])
    reasons = spawn.call(reasons_of_truncated, str(tmp_path), lengths)
    assert len(reasons) == len(lengths)
    assert all("truncated" in reason and "reinstall" in reason for reason in reasons)


@left_out_if(sys.platform != "linux", "other systems have no ELF files")
@pytest.mark.parametrize(
    ("offset", "byte", "words"),
    [
        (4, 1, "64-bit little-endian"),  # 32 bits
        (5, 2, "64-bit little-endian"),  # big-endian
        (16, 2, "not a shared library"),  # an executable
        (18, 0x16, "not a shared library for"),  # s390x
        (54, 1, "damaged"),  # the size of a program header
        (58, 1, "damaged"),  # the size of a section header
    ],
)
def test_a_library_of_another_kind(offset: int, byte: int, words: str, tmp_path: Path) -> None:
    content = bytearray(stub.compiled().read_bytes())
    content[offset] = byte
    path = tmp_path / "other.so"
    path.write_bytes(content)
    assert words in refused(path)


@left_out_if(sys.platform != "linux", "other systems have no ELF files")
@pytest.mark.parametrize(("machine", "number"), [("x86_64", 62), ("aarch64", 183)])  # EM_X86_64, EM_AARCH64 of elf.h
def test_a_library_for_each_machine(machine: str, number: int, tmp_path: Path) -> None:
    content = bytearray(stub.compiled().read_bytes())
    struct.pack_into("<H", content, 18, number)  # e_machine
    path = tmp_path / "other.so"
    path.write_bytes(content)
    assert _elf.problem(str(path), machine) == ""
    others = {"x86_64": "aarch64", "aarch64": "x86_64"}
    assert f"not a shared library for {others[machine]}" in _elf.problem(str(path), others[machine])


def test_an_unknown_machine_is_left_to_the_loader() -> None:
    assert isinstance(attempt(stub.compiled(), machine="riscv64"), Library)


def test_a_library_without_section_headers_loads(tmp_path: Path) -> None:
    content = bytearray(stub.compiled().read_bytes())
    content[40:48] = bytes(8)  # e_shoff
    content[60:62] = bytes(2)  # e_shnum
    path = tmp_path / "bare.so"
    path.write_bytes(content)
    assert isinstance(attempt(path), Library)


def with_content_behind_the_section_headers(size: int) -> bytes:
    """A library whose last bytes are the content of a section. Linkers put the section headers last."""
    content = bytearray(stub.compiled().read_bytes())
    (start,) = struct.unpack_from("<Q", content, 40)  # e_shoff
    (count,) = struct.unpack_from("<H", content, 60)  # e_shnum
    headers = bytearray(content[start : start + 64 * count])
    content += bytes(-len(content) % 8)
    struct.pack_into("<Q", content, 40, len(content))
    last = 64 * (count - 1)  # the names of the sections, which the loader does not read
    struct.pack_into("<QQ", headers, last + 24, len(content) + len(headers), size)  # sh_offset, sh_size
    return bytes(content + headers + bytes(size))


@left_out_if(sys.platform != "linux", "other systems have no ELF files")
@pytest.mark.parametrize("missing", [0, 1, 100])
def test_a_library_that_ends_with_a_section(missing: int, tmp_path: Path) -> None:
    content = with_content_behind_the_section_headers(100)
    path = tmp_path / "other.so"
    path.write_bytes(content[: len(content) - missing])
    if missing:
        assert f"truncated: {len(content) - missing} bytes of at least {len(content)}" in refused(path)
    else:
        assert isinstance(attempt(path), Library)


@left_out_if(sys.platform != "linux", "other systems have no ELF files")
@pytest.mark.parametrize("missing", [0, 1, 100])
def test_a_library_that_ends_with_its_program_headers(missing: int, tmp_path: Path) -> None:
    content = bytearray(stub.compiled().read_bytes())
    (start,) = struct.unpack_from("<Q", content, 32)  # e_phoff
    (count,) = struct.unpack_from("<H", content, 56)  # e_phnum
    content += bytes(-len(content) % 8)
    struct.pack_into("<Q", content, 32, len(content))
    content += content[start : start + 56 * count]
    path = tmp_path / "other.so"
    path.write_bytes(content[: len(content) - missing])
    wanted = f"truncated: {len(content) - missing} bytes of at least {len(content)}" if missing else ""
    assert _elf.problem(str(path), facts().machine) == wanted


@left_out_if(sys.platform != "linux", "other systems have no ELF files")
def test_zeros_take_no_place_in_the_file(tmp_path: Path) -> None:
    """A section of zeros (.bss) names a size, and nothing of it is in the file."""
    content = bytearray(with_content_behind_the_section_headers(100))
    (start,) = struct.unpack_from("<Q", content, 40)
    (count,) = struct.unpack_from("<H", content, 60)
    last = start + 64 * (count - 1)
    struct.pack_into("<I", content, last + 4, 8)  # SHT_NOBITS
    struct.pack_into("<Q", content, last + 32, 1 << 40)
    path = tmp_path / "zeros.so"
    path.write_bytes(content)
    assert isinstance(attempt(path), Library)


@pytest.mark.parametrize(
    ("version", "fits"),
    [((1, 3), True), ((1, 9), True), ((1, 2), False), ((0, 9), False), ((2, 0), False), ((2, 5), False)],
)
def test_the_versions_of_dlpack_that_a_table_may_have(version: tuple[int, int], fits: bool) -> None:
    problem = _load._dlpack_version_problem(*version)
    assert problem == ("" if fits else f"has DLPack {version[0]}.{version[1]}, needed is 1.3 or a newer 1.x")


def test_only_a_file_system_mounted_noexec_gets_that_remedy() -> None:
    assert _load._remedy_for_noexec(sys.executable) == ""  # it runs
