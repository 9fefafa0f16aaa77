"""Lines fold to a width, and print in any encoding."""

from __future__ import annotations

import io
import sys

import pytest
from dlx_torch_ext._cli import screen
from dlx_torch_ext._cli.screen import Screen, fold

PATH = "/home/user/env/lib/python3.12/site-packages/torch"


class TestFold:
    def test_at_blanks(self) -> None:
        assert fold("one two three four", 10, "", "  ") == ["one two", "  three", "  four"]

    def test_what_fits_exactly_is_one_line(self) -> None:
        assert fold("12345 789", 9, "", "") == ["12345 789"]
        assert fold("12345 7890", 9, "", "") == ["12345", "7890"]

    def test_a_path_that_fits_into_a_line_is_not_folded(self) -> None:
        assert fold(f"it is {PATH}", 52, "", "  ") == ["it is", f"  {PATH}"]

    def test_a_longer_one_is_folded_after_a_separator(self) -> None:
        lines = fold(PATH, 30, "", "  ")
        assert lines == ["/home/user/env/lib/python3.12/", "  site-packages/torch"]
        assert fold("C:\\Users\\user\\torch", 12, "", "") == ["C:\\Users\\", "user\\torch"]

    def test_other_words_stay_whole(self) -> None:
        assert fold("a torch2.9-cxx11-torch_npu z", 10, "", " ") == ["a", " torch2.9-cxx11-torch_npu", " z"]

    def test_columns_stay(self) -> None:
        assert fold("2.9    cxx11  cpu", 80, "  ", "") == ["  2.9    cxx11  cpu"]

    def test_nothing(self) -> None:
        assert fold("", 80, "  ", "") == [""]

    def test_nothing_moves_the_cursor(self) -> None:
        assert fold("a\x1b[2Jb\r\nc\udcff", 80, "", "") == ["a\\x1b[2Jb\\r\\nc\\udcff"]


class TestScreen:
    def test_blank_lines_stand_between_things_only(self) -> None:
        page = Screen(80, colour=False)
        page.blank()
        page.text("one")
        page.blank()
        page.blank()
        page.text("two")
        page.blank()
        assert page.lines == ["one", "", "two"]

    def test_rows(self) -> None:
        page = Screen(80, colour=False)
        page.row("torch", "2.9.1")
        page.row("", "/site/torch")
        page.row("python", "")
        assert page.lines == ["  torch          2.9.1", "                 /site/torch"]

    def test_narrow_rows(self) -> None:
        page = Screen(30, colour=False)
        page.row("torch", "2.9.1")
        page.row("", "/site/torch")
        assert page.lines == ["  torch", "    2.9.1", "    /site/torch"]

    @pytest.mark.parametrize("columns", ["0", "-5", "1", "wide"])
    def test_a_width_that_makes_no_sense(self, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        assert Screen().width >= 20

    @pytest.mark.parametrize(
        ("encoding", "written"), [("ascii", b"/h\\xf6me\n"), ("latin-1", b"/h\xf6me\n"), ("utf-8", b"/h\xc3\xb6me\n")]
    )
    def test_any_encoding(self, encoding: str, written: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        out = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, newline="\n"))
        page = Screen(80)
        page.text("/h\N{LATIN SMALL LETTER O WITH DIAERESIS}me")
        page.show()
        sys.stdout.flush()
        assert out.getvalue() == written

    def test_no_stdout(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        page = Screen()
        page.text("unseen")
        page.show()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_windows_console_gets_no_colour_unless_it_is_known_to_show_it(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert screen.wants_colour(Terminal()) == (platform != "win32")
    assert not screen.wants_colour(io.StringIO())
    assert not screen.wants_colour(None)
    monkeypatch.setattr(screen, "_windows_console_knows_colour", lambda: True)
    assert screen.wants_colour(Terminal())
