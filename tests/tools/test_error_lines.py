"""cpp/src/errors.cc: every error text is one line of valid UTF-8 that begins with our name, whatever bytes it gets."""

from __future__ import annotations

import ctypes

import pytest

from tests.support import compiled
from tools.settings import ROOT

SOURCES = ROOT / "cpp" / "src"
DRIVER = """
extern "C" void one_line(const char* text, char* out) {
  dlx::Error error;
  error.set(dlx::ErrorKind::kValueError, "%s", text);
  for (const char* from = error.text; (*out++ = *from++) != 0;) {}
}
"""
LONG = 256 - len("dlx-torch: ") - 1
TEXTS = {
    "plain": (b"plain", "plain"),
    "two lines": (b"first\nsecond", "first"),
    "two lines of Windows": (b"first\r\nsecond", "first"),
    "empty first line": (b"\nsecond", ""),
    "tab": (b"a\tb", "a b"),
    "control characters": (b"a\x01\x0b\x0c\x1c\x1e\x7fb", "a??????b"),
    "other line ends": ("a\u0085b\u2028c\u2029d".encode(), "a?b?c?d"),
    "letters of two, three and four bytes": ("\u00e9\u20ac\U0001f600".encode(), "\u00e9\u20ac\U0001f600"),
    "first and last of each length": (
        "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff".encode(),
        "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
    ),
    "not UTF-8": (b"a\xff\xfe\x80b", "a???b"),
    "longer than needed": (b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf", "?" * 9),
    "surrogates": (b"\xed\xa0\x80", "???"),
    "beyond Unicode": (b"\xf4\x90\x80\x80\xf5", "?????"),
    "half a character at the end": (b"a\xe2\x82", "a??"),
    "too long": (b"x" * 1000, "x" * LONG),
    "cut within a character": (b"x" * (LONG - 1) + "\u20ac".encode(), "x" * (LONG - 1) + "?"),
}


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    source = compiled.scratch() / "error_lines.cc"
    source.write_text((SOURCES / "errors.cc").read_text() + DRIVER)
    library = ctypes.CDLL(str(compiled.library(source, "-std=c++17", f"-I{SOURCES}")))
    library.one_line.argtypes, library.one_line.restype = [ctypes.c_char_p, ctypes.c_char_p], None
    return library


@pytest.mark.parametrize("name", TEXTS)
def test_one_line_of_utf_8(name: str, library: ctypes.CDLL) -> None:
    text_bytes, expected = TEXTS[name]
    out = ctypes.create_string_buffer(256)
    library.one_line(text_bytes, out)
    text = out.value.decode("utf-8")
    assert text == f"dlx-torch: {expected}"
    assert len(text.splitlines()) == 1
