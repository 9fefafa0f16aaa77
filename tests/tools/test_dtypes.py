"""cpp/src/dtypes: the names that errors give to any DLDataType, and the way between numbers of torch and DLPack."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import compiled
from tests.support.structs import DLDataType
from tools.settings import ROOT

SOURCES = ROOT / "cpp" / "src"
DRIVER = """
extern "C" void name_of(DLDataType dtype, char* out) { std::snprintf(out, 64, "%s", dlx::DTypeName(dtype).text); }
extern "C" DLDataType to_dl(int scalar_type) { return dlx::dtype_to_dl(scalar_type); }
extern "C" int from_dl(DLDataType dtype) { return dlx::scalar_type_from_dl(dtype); }
extern "C" int64_t bytes_of(DLDataType dtype) { return dlx::dtype_bytes(dtype); }
"""
# By DLDataTypeCode, in the order of dlpack.h: the name, and the bits that it says itself.
NAMED = ["int", "uint", "float", "handle", "bfloat", "complex"]
FIXED = {
    "bool": 8,
    "float8_e3m4": 8,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 8,
    "float8_e4m3fn": 8,
    "float8_e4m3fnuz": 8,
    "float8_e5m2": 8,
    "float8_e5m2fnuz": 8,
    "float8_e8m0fnu": 8,
    "float6_e2m3fn": 6,
    "float6_e3m2fn": 6,
    "float4_e2m1fn": 4,
}
LATER = ["bcomplex"]  # on the main branch of dmlc/dlpack
CODES = len(NAMED) + len(FIXED) + len(LATER)


@pytest.fixture(scope="module")
def library() -> Any:
    parts = [
        (SOURCES / name).read_text(encoding="utf-8") for name in ("dtypes.h", "dl_numbers.h", "dtypes.cc", "errors.cc")
    ]
    source = compiled.scratch() / "dtypes.cc"
    # One text, so that compiled.library notices every change.
    source.write_text(
        re.sub(r'#include "(dtypes|dl_numbers|errors)\.h"\n', "", "#include <errors.h>\n" + "".join(parts)) + DRIVER
    )
    flags = ("-std=c++17", "-DDLX_TORCH_MINOR=9", f"-I{SOURCES}", f"-I{compiled.dlpack_include()}")
    made = ctypes.CDLL(str(compiled.library(source, *flags)))
    made.to_dl.restype, made.bytes_of.restype = DLDataType, ctypes.c_int64
    made.name_of.argtypes = [DLDataType, ctypes.c_char_p]
    made.from_dl.argtypes = made.bytes_of.argtypes = [DLDataType]
    return made


def name(library: Any, code: int, bits: int, lanes: int = 1) -> str:
    out = ctypes.create_string_buffer(64)
    library.name_of(DLDataType(code, bits, lanes), out)
    return out.value.decode()


def test_a_name_says_everything(library: Any) -> None:
    names = [*((word, 0) for word in NAMED), *FIXED.items(), *((word, 0) for word in LATER)]
    for code, (word, bits) in enumerate(names):
        for lanes in (1, 2, 65535):
            suffix = "" if lanes == 1 else f"x{lanes}"
            if bits == 0:
                assert name(library, code, 24, lanes) == f"{word}24{suffix}"
            else:
                assert name(library, code, bits, lanes) == f"{word}{suffix}"
                assert name(library, code, bits + 1, lanes) == f"{word} of {bits + 1} bits{suffix}"
    assert name(library, CODES, 8, 3) == f"code {CODES} of 8 bits and 3 lanes"
    assert name(library, 255, 255, 65535) == "code 255 of 255 bits and 65535 lanes"


def test_a_number_that_torch_may_hold_has_one_dtype_or_none(library: Any) -> None:
    there = {}
    for number in (*range(-300, 300), -(2**31), 2**31 - 1):
        dtype = library.to_dl(number)
        if dtype.bits:
            there[number] = (dtype.code, dtype.bits, dtype.lanes)
            assert library.from_dl(dtype) == number
    assert len(there) == len(set(there.values())) == 22
    assert (min(there), max(there)) == (0, 45)


def test_no_other_dtype_has_a_number(library: Any) -> None:
    found = set()
    for code in range(256):
        for bits in range(256):
            for lanes in (0, 1, 2, 3, 255, 256, 65535):
                number = library.from_dl(DLDataType(code, bits, lanes))
                if number != -1:
                    found.add(number)
                    dtype = library.to_dl(number)
                    assert (dtype.code, dtype.bits, dtype.lanes) == (code, bits, lanes)
    assert len(found) == 22


@pytest.mark.parametrize(
    ("bits", "lanes", "expected"), [(4, 1, 1), (4, 2, 1), (6, 1, 1), (8, 1, 1), (9, 1, 2), (64, 65535, 8 * 65535)]
)
def test_bytes(bits: int, lanes: int, expected: int, library: Any) -> None:
    assert library.bytes_of(DLDataType(0, bits, lanes)) == expected


@pytest.mark.parametrize("number", [18, 21])
def test_a_number_of_another_dlpack_does_not_compile(number: int, tmp_path: Path) -> None:
    """dlpack.h may have the name already; then the numbers have to agree."""
    header = tmp_path / "dlpack" / "dlpack.h"
    header.parent.mkdir()
    types = f"enum DLDeviceType {{ kDLCPU = 1, kDLAscend = {number} }};"
    header.write_text(f"{types} enum DLDataTypeCode {{ kDLInt, kDLBcomplex = 18 }};\n")
    command = ["c++", "-std=c++17", "-fsyntax-only", f"-I{tmp_path}", str(SOURCES / "dl_numbers.h")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (number == 21)
    assert ("kDLAscend is another number in this dlpack.h" in done.stderr) == (number != 21)
