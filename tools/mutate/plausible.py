"""Whether a C++ mutant can compile at all, by its text: universalmutator's rules know lines, and most of what they make
of templates, pointers and names is no C++. The layout that clang-format gives the sources says which is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPERATOR = re.compile(r"[-<>=!+*/%&|]+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_LOOP = re.compile(r"\b(for|while|switch) \(|\bdo \{")


def is_plausible(before: str, after: Sequence[str], source: Sequence[str], line: int, words: frozenset[str]) -> bool:
    """`before`, line number `line` of `source`, becomes `after`; `words` are the words that the sources know."""
    if len(after) > 1:  # a new line: `break;` or `continue;`
        return _is_in_loop(source, line)
    text = re.sub(r'"[^"]*"', '""', after[0])
    if after[0].lstrip().startswith("/*"):  # the line is gone
        return _balance(before) == (0, 0, 0)
    if _balance(text) != _balance(before):
        return False
    if not words.issuperset(_WORD.findall(re.sub(r"\b0[xX][0-9a-fA-F]+", "0", text))):
        return False
    if any(not _NUMBER.fullmatch(token) for token in re.findall(r"(?<![\w.])\d\w*", text)):
        return False
    return _keeps_the_spaces(before, after[0])


def _is_in_loop(source: Sequence[str], line: int) -> bool:
    """Whether a loop or a switch is around the line: above it, and less indented."""
    indent = _indent(source[line - 1])
    for text in reversed(source[: line - 1]):
        if text.strip() and _indent(text) < indent:
            indent = _indent(text)
            if _LOOP.search(text):
                return True
            if indent == 0:
                return False
    return False


def _keeps_the_spaces(before: str, after: str) -> bool:
    """False where an operator changes that has no spaces around it: that of a pointer, a template or a name."""
    start = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    for match in _OPERATOR.finditer(before):
        if match.start() <= start < match.end():
            spaced = before[match.start() - 1 : match.start()] == " " and before[match.end() : match.end() + 1] == " "
            return spaced or match[0] in ("!", "++", "--", "-", "!*")
    return True


def _balance(text: str) -> tuple[int, ...]:
    """How many brackets of each kind a line opens and does not close."""
    text = re.sub(r'"[^"]*"|//.*', "", text)
    return tuple(text.count(opening) - text.count(closing) for opening, closing in ("()", "[]", "{}"))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def words_of(texts: Sequence[str]) -> frozenset[str]:
    """The words that occur in sources."""
    return frozenset(word for text in texts for word in _WORD.findall(text))
