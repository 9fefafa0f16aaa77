"""cpp/src/overflow.h by a compiler that has the functions built in, and as MSVC, which has not, reads it."""

from __future__ import annotations

import ctypes

import pytest

from tests.support import compiled
from tools.settings import ROOT

SOURCE = """
#include <cstdint>
#include "overflow.h"
extern "C" bool add_signed(int64_t a, int64_t b, int64_t* r) { return dlx::add_overflows(a, b, r); }
extern "C" bool add_unsigned(uint64_t a, uint64_t b, uint64_t* r) { return dlx::add_overflows(a, b, r); }
extern "C" bool multiply(int64_t a, int64_t b, int64_t* r) { return dlx::multiply_overflows(a, b, r); }
"""
MOST, UNSIGNED_MOST = 2**63 - 1, 2**64 - 1
NUMBERS = [0, 1, 2, 3, 7, 2**31, 2**32, 3037000499, 3037000500, 2**62, MOST // 3, MOST - 1, MOST]


@pytest.mark.parametrize("flags", [(), ("-D_MSC_VER=1940",)], ids=["built in", "as MSVC"])
def test_they_say_what_does_not_fit(flags: tuple[str, ...]) -> None:
    source = compiled.scratch() / "overflow.cc"
    header = (ROOT / "cpp" / "src" / "overflow.h").read_text()  # in the file, by which a compiled library is known
    source.write_text(SOURCE.replace('#include "overflow.h"', header))
    library = ctypes.CDLL(str(compiled.library(source, "-std=c++17", *flags)))
    for name, kind, most in (
        ("add_signed", ctypes.c_int64, MOST),
        ("add_unsigned", ctypes.c_uint64, UNSIGNED_MOST),
        ("multiply", ctypes.c_int64, MOST),
    ):
        function = library[name]
        function.argtypes, function.restype = [kind, kind, ctypes.POINTER(kind)], ctypes.c_bool
        for a in [*NUMBERS, most - 1, most]:
            for b in [*NUMBERS, most - 1, most]:
                expected = a * b if name == "multiply" else a + b
                result = kind()
                assert function(a, b, ctypes.byref(result)) is (expected > most), (name, a, b)
                assert expected > most or result.value == expected
