"""The pages: their lines are short, their links lead somewhere, and the messages they quote are in the sources."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.settings import ROOT

WIDTH = 100
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("tests/**/*.md")]
TROUBLESHOOTING = ROOT / "docs" / "troubleshooting.md"

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def too_long(text: str) -> list[str]:
    """The lines that are too long, without rows of tables and definitions of links: those cannot be wrapped."""
    return [line for line in text.splitlines() if len(line) > WIDTH and not re.match(r"\||\[\w+\]: ", line)]


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes from the headings of a page: lower case, words joined by hyphens."""
    titles = re.findall(r"^#+ (.+)$", without_code(text), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def targets(text: str) -> list[tuple[str, str]]:
    return re.findall(r"\]\(([^)\s]+)\)|^\[\w+\]: (\S+)$", without_code(text), re.M)


def broken_links(page: Path, text: str, repository: str) -> Iterator[str]:
    """Links into this repository that lead to no file or to no heading. `repository` is its address: links may be
    relative or begin with it."""
    for relative, absolute in targets(text):
        link = (relative or absolute).removeprefix(f"{repository}/blob/main/")
        if "://" in link:
            continue
        start = page.parent if relative == link else ROOT
        name, _, anchor = link.partition("#")
        file = start / name
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8") if name else text)):
            yield link


def quoted(text: str) -> list[str]:
    """The messages that a page quotes: each heading, and each first cell of a table's row, that is a piece of code and
    nothing else."""
    return re.findall(r"^(?:### |\| )`([^`]+)`(?: \(DLX\d+\))?(?=$| \|)", text, re.M)


def messages() -> set[str]:
    """Every string in the sources of the package and the libraries, with "..." for the parts inserted at run time."""
    texts = set()
    for file in (ROOT / "python").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                texts.add("".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    for file in (ROOT / "cpp" / "src").rglob("*.[ch]*"):
        for strings in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', file.read_text(encoding="utf-8")):
            literal = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', strings))
            texts.add(re.sub(r"%[.\d]*(?:ll)?[sdux]", "...", literal))
    return {re.sub(r"\.{3,}", "...", text) for text in texts}


@every_page
def test_lines_are_short(page: Path) -> None:
    assert too_long(page.read_text(encoding="utf-8")) == []


def test_a_long_line_is_found_and_a_row_of_a_table_is_not() -> None:
    long = "word " * 25
    assert too_long(f"{long}\n| {long} |\n[there]: {long}\nshort\n") == [long]


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    repository = re.findall(r'^Source = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert list(broken_links(page, page.read_text(encoding="utf-8"), *repository)) == []


def test_a_link_to_nothing_is_found() -> None:
    text = "[a](README.md) [b](nowhere.md) [c](#here) [d](#there)\n\n# Here\n\n[e]: https://x/blob/main/docs/no.md\n"
    assert list(broken_links(ROOT / "page.md", text, "https://x")) == ["nowhere.md", "#there", "docs/no.md"]


def test_every_page_of_the_docs_is_in_their_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in PAGES if page.parent.name == "docs" and page.name != "README.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_the_quoted_messages_are_in_the_sources() -> None:
    texts = messages()
    quotes = quoted(TROUBLESHOOTING.read_text(encoding="utf-8"))
    assert len(quotes) > 50
    assert [quote for quote in quotes if not any(quote in text for text in texts)] == []


def test_a_quoted_message_is_a_heading_or_begins_a_row() -> None:
    text = (
        "### `one thing` (DLX001)\n\n| `another` | `not this` |\n|---|---|\n\n### `no` heading of code\n\n`nor this`\n"
    )
    assert quoted(text) == ["one thing", "another"]
