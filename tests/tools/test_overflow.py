"""cpp/src/overflow.h, with the compiler's built-in functions, and without them, as MSVC compiles it."""

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
MAX_SIGNED, MAX_UNSIGNED = 2**63 - 1, 2**64 - 1
NUMBERS = [0, 1, 2, 3, 7, 2**31, 2**32, 3037000499, 3037000500, 2**62, MAX_SIGNED // 3, MAX_SIGNED - 1, MAX_SIGNED]


@pytest.mark.parametrize("flags", [(), ("-D_MSC_VER=1940",)], ids=["built in", "as MSVC"])
def test_a_result_that_does_not_fit_is_reported(flags: tuple[str, ...]) -> None:
    source = compiled.scratch() / "overflow.cc"
    header = (
        ROOT / "cpp" / "src" / "overflow.h"
    ).read_text()  # copied in: compiled.library notices changes of this file only
    source.write_text(SOURCE.replace('#include "overflow.h"', header))
    library = ctypes.CDLL(str(compiled.library(source, "-std=c++17", *flags)))
    for name, kind, maximum in (
        ("add_signed", ctypes.c_int64, MAX_SIGNED),
        ("add_unsigned", ctypes.c_uint64, MAX_UNSIGNED),
        ("multiply", ctypes.c_int64, MAX_SIGNED),
    ):
        function = library[name]
        function.argtypes, function.restype = [kind, kind, ctypes.POINTER(kind)], ctypes.c_bool
        for a in [*NUMBERS, maximum - 1, maximum]:
            for b in [*NUMBERS, maximum - 1, maximum]:
                expected = a * b if name == "multiply" else a + b
                result = kind()
                assert function(a, b, ctypes.byref(result)) is (expected > maximum), (name, a, b)
                assert expected > maximum or result.value == expected
