"""cpp/src/settings.h: a switch in the environment means the same in C++ as in Python."""

from __future__ import annotations

import ctypes

import pytest

from tests.support import compiled
from tests.support.switches import VALUES
from tools.settings import ROOT

NAME = "DLX_TEST_SWITCH"
DRIVER = """
extern "C" bool is_on(const char* value, bool otherwise) {
  if (value == nullptr) unsetenv("%s"); else setenv("%s", value, 1);
  return dlx::switch_is_on("%s", otherwise);
}
""".replace("%s", NAME)


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    source = compiled.scratch() / "settings.cc"
    header = (
        ROOT / "cpp" / "src" / "settings.h"
    ).read_text()  # copied in: compiled.library notices changes of this file only
    source.write_text(header + DRIVER)
    library = ctypes.CDLL(str(compiled.library(source, "-std=c++17")))
    library.is_on.argtypes, library.is_on.restype = [ctypes.c_char_p, ctypes.c_bool], ctypes.c_bool
    return library


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("otherwise", [True, False])
def test_every_value(value: str, otherwise: bool, library: ctypes.CDLL) -> None:
    assert library.is_on(value.encode(), otherwise) == VALUES[value]


@pytest.mark.parametrize("otherwise", [True, False])
@pytest.mark.parametrize("value", [None, b""])
def test_unset_or_empty(value: bytes | None, otherwise: bool, library: ctypes.CDLL) -> None:
    assert library.is_on(value, otherwise) == otherwise
