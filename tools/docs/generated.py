"""The parts of README.md and docs/ that are made from variants.toml, between markers that name them:

    <!-- NAME: made by ./dev docs ... -->
    ...
    <!-- end -->

./dev docs and ./dev lint --fix write them, ./dev lint fails where they say something else. As a command, the check:

python -m tools.docs.generated
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.docs import compatibility
from tools.docs.compatibility import Table
from tools.matrix import Matrix, read
from tools.settings import ROOT, ToolError

PAGES: dict[str, dict[str, Callable[[Matrix], Table]]] = {
    "README.md": {"compatibility": compatibility.by_release},
    "docs/compatibility.md": {"rows": compatibility.by_row, "backends": compatibility.by_backend},
}


def write(root: Path = ROOT) -> None:
    """Make every part again."""
    for page, text in _made(root):
        page.write_text(text, encoding="utf-8")


def stale(root: Path = ROOT) -> list[str]:
    """The pages that say something else than variants.toml."""
    return [page.relative_to(root).as_posix() for page, text in _made(root) if page.read_text(encoding="utf-8") != text]


def put(page: str, name: str, table: Table) -> str:
    """The text of a page with the table between the markers of that name; ToolError where they are not there once."""
    titles, *rows = table
    lines = [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]
    markers = re.compile(rf"(<!-- {name}: made by \./dev docs.*-->\n)(?:(?!<!-- ).*\n)*(<!-- end -->)")
    made, count = markers.subn(lambda found: "\n".join([found[1] + lines[0], *lines[1:], found[2]]), page)
    if count != 1:
        raise ToolError(f"the markers `<!-- {name}: made by ./dev docs -->` and `<!-- end -->` are there {count} times")
    return made


def _made(root: Path) -> Iterator[tuple[Path, str]]:
    matrix = read(root / "variants.toml")
    for name, parts in PAGES.items():
        text = (root / name).read_text(encoding="utf-8")
        try:
            for part, make in parts.items():
                text = put(text, part, make(matrix))
        except ToolError as error:
            raise ToolError(f"{name}: {error}") from None
        yield root / name, text


def main(root: Path = ROOT) -> int:
    try:
        found = [f"{page} differs from variants.toml: ./dev lint --fix makes it again" for page in stale(root)]
    except ToolError as error:
        found = [str(error)]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
