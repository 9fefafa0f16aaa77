"""The ids of what can go wrong: DLX030 and so on. An id is kept for as long as the project lives.

The page for troubleshooting is the list of them. It quotes each message with its id and says what to do; a quote is
found in a message again, so no id is written down a second time. The page is read only when something is wrong.
"""

from __future__ import annotations

import functools
import pkgutil
import re

from ._record import Record

# In the page a message is a heading, "### `the message` (DLX030)", or the first cell of a row of a table. "..." stands
# for what differs.
_ENTRY = re.compile(r"^(?:### |\| )`(?P<quote>[^`]+)` \((?P<id>DLX\d{3})\)(?: \| (?P<cell>.*) \|)?$", re.MULTILINE)
_HAS_IDS = re.compile(r"\[DLX\d{3}(?:, DLX\d{3})*\]$")
_NEXT = re.compile(r"^##", re.MULTILINE)


class Entry(Record):
    """`quote`: the words of the message. `text`: what the page says of it, in Markdown."""

    id: str
    quote: str
    text: str


def with_ids(message: str) -> str:
    """`message` with the ids of what it says at the end of its first line: "... [DLX030]". One that has its ids stays
    as it is."""
    first, newline, rest = message.partition("\n")
    ids = [] if _HAS_IDS.search(first) else [entry.id for entry in find(first)]
    return f"{first} [{', '.join(ids)}]{newline}{rest}" if ids else message


def find(message: str) -> list[Entry]:
    """The entries whose words are in `message`, in the order of its words."""
    found = ((pattern.search(message), entry) for pattern, entry in _patterns())
    places = [(match.start(), entry.id, entry) for match, entry in found if match]
    return [entry for _, _, entry in sorted(places, key=lambda place: place[:2])]


@functools.lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """All entries, in the order of the page; none if this installation has no page."""
    page = _page()
    found = []
    for match in _ENTRY.finditer(page):
        text = match["cell"]
        if text is None:
            end = _NEXT.search(page, match.end())
            text = page[match.end() : end.start() if end else len(page)].strip()
        found.append(Entry(match["id"], match["quote"], text))
    return tuple(found)


@functools.lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], Entry], ...]:
    return tuple((re.compile(".*?".join(map(re.escape, e.quote.split("...")))), e) for e in entries())


def _page() -> str:
    for path in ("troubleshooting.md", "../../docs/troubleshooting.md"):  # of an installation, of a checkout
        try:
            return (pkgutil.get_data(__package__, path) or b"").decode()  # reads inside of a zip archive too
        except (OSError, UnicodeDecodeError):
            continue
    return ""
