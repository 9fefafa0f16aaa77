"""Prints lines that fit the terminal, in colour where that is wanted, and in whatever encoding stdout has."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import Any

_CODES = {"good": "1;32", "careful": "1;33", "bad": "1;31", "label": "36"}
_SEPARATOR = re.compile(r"(?<=[/\\])")
_LABEL = 17  # columns for "  dlx-torch-ext  "
_NARROWEST = 20
_TOO_NARROW_FOR_LABELS = 50


class Screen:
    """Collects lines and prints them at the end. The width and the colour are those of stdout, unless given."""

    def __init__(self, width: int | None = None, colour: bool | None = None) -> None:
        self.width = max(_NARROWEST, shutil.get_terminal_size().columns if width is None else width)
        self.colour = wants_colour(sys.stdout) if colour is None else colour
        self.lines: list[str] = []
        self._blank = False

    def text(self, text: str, style: str = "", indent: int = 0, hang: int = 2) -> None:
        """Adds a paragraph. Its lines after the first are indented by `hang` columns more."""
        lines = fold(text, self.width, " " * indent, " " * (indent + hang))
        self._add([self._painted(line, style) for line in lines])

    def row(self, label: str, value: str) -> None:
        """Adds a label and its value; without a label, one more value of the row before. No value adds nothing."""
        if not value:
            return
        if self.width < _TOO_NARROW_FOR_LABELS:
            if label:
                self.text(label, "label", indent=2)
            self.text(value, indent=4)
            return
        first = f"  {label}".ljust(_LABEL)
        lines = fold(value, self.width, first, " " * _LABEL)
        self._add([self._painted(first, "label" if label else "") + lines[0][_LABEL:], *lines[1:]])

    def blank(self) -> None:
        """Adds an empty line between what there is and what follows, if there is either."""
        self._blank = bool(self.lines)

    def show(self) -> None:
        """Prints all of it."""
        out: Any = sys.stdout  # None where the process was started without one; print then does nothing
        encoding = getattr(out, "encoding", None) or "utf-8"
        print("\n".join(self.lines).encode(encoding, "backslashreplace").decode(encoding))

    def _add(self, lines: list[str]) -> None:
        self.lines += [""] * self._blank + lines
        self._blank = False

    def _painted(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and self.colour else text


def fold(text: str, width: int, first: str, rest: str) -> list[str]:
    """`text` in lines of at most `width` columns, the first one after `first`, the others after `rest`. A path that is
    longer than a line is folded after its separators. Every other word stays whole, even where it is too long."""
    # A path or a variable may hold anything, and must not move the cursor.
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    lines, gap = [first], ""
    for word in shown.split(" "):
        fits = len(word) <= width - len(rest)
        for piece in [word] if fits else _SEPARATOR.split(word):
            if len(lines[-1]) + len(gap) + len(piece) <= width or lines[-1] in (first, rest):
                lines[-1] += gap + piece
            else:
                lines.append(rest + piece)
            gap = ""
        gap = " "
    return [line.rstrip() for line in lines]


def wants_colour(stream: Any) -> bool:
    """Whether to write colours to `stream`. NO_COLOR and FORCE_COLOR decide, in this order; otherwise a terminal gets
    them, unless it is a dumb one."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if stream is None or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    return sys.platform != "win32" or _windows_console_knows_colour()


def _windows_console_knows_colour() -> bool:
    import ctypes

    stdout, virtual_terminal = -11, 4
    mode = ctypes.c_uint32()
    try:
        kernel32: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
        handle = ctypes.c_void_p(kernel32.GetStdHandle(stdout))
        return bool(kernel32.GetConsoleMode(handle, ctypes.byref(mode)) and mode.value & virtual_terminal)
    except (AttributeError, OSError):
        return False
