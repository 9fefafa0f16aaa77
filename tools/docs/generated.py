"""Generate the tables of README.md and docs/ that come from variants.toml, from what the package decides and from the
results in docs/hardware. They stand between markers with their name:

    <!-- NAME: made by ./dev docs ... -->
    ...
    <!-- end -->

./dev docs and ./dev lint --fix write the tables; ./dev lint fails where a page has an outdated one. The check alone:

    python -m tools.docs.generated
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.docs import backends, compatibility, hardware
from tools.docs.compatibility import Table
from tools.matrix import read
from tools.settings import ROOT, ToolError


def tables(root: Path) -> dict[str, dict[str, Table]]:
    """By the page, its tables by their names."""
    matrix = read(root / "variants.toml")
    seen = hardware.seen(root / "docs" / "hardware")
    return {
        "README.md": {"compatibility": compatibility.by_release(matrix), "hardware": seen},
        "docs/compatibility.md": {"rows": compatibility.by_row(matrix), "backends": compatibility.by_backend(matrix)},
        "docs/design.md": {"choice": backends.by_facts(matrix)},
    }


def write(root: Path = ROOT) -> None:
    """Update every table in the pages."""
    for page, text in _updated_pages(root):
        page.write_text(text, encoding="utf-8")


def outdated(root: Path = ROOT) -> list[str]:
    """The pages with a table that differs from what it is made from."""
    return [
        page.relative_to(root).as_posix()
        for page, text in _updated_pages(root)
        if page.read_text(encoding="utf-8") != text
    ]


def replace_table(page: str, name: str, table: Table) -> str:
    """The text of a page with this table between the markers of that name. ToolError where the page does not have the
    markers once."""
    titles, *rows = table
    lines = [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]
    markers = re.compile(rf"(<!-- {name}: made by \./dev docs.*-->\n)(?:(?!<!-- ).*\n)*(<!-- end -->)")
    text, count = markers.subn(lambda match: "\n".join([match[1] + lines[0], *lines[1:], match[2]]), page)
    if count != 1:
        both = f"`<!-- {name}: made by ./dev docs -->` and `<!-- end -->`"
        raise ToolError(f"the markers {both} must be there once; they are there {count} times")
    return text


def _updated_pages(root: Path) -> Iterator[tuple[Path, str]]:
    for name, made in tables(root).items():
        text = (root / name).read_text(encoding="utf-8")
        try:
            for table, rows in made.items():
                text = replace_table(text, table, rows)
        except ToolError as error:
            raise ToolError(f"{name}: {error}") from None
        yield root / name, text


def main(root: Path = ROOT) -> int:
    try:
        problems = [
            f"{page}: its tables differ from variants.toml or docs/hardware. Update them: ./dev lint --fix"
            for page in outdated(root)
        ]
    except ToolError as error:
        problems = [str(error)]
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
