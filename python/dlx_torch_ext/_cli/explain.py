"""`dlx-torch explain`: what an id or a message means, and what to do; the words of the page for troubleshooting."""

from __future__ import annotations

import sys

from .. import _ids


def run(asked: str) -> int:
    """Prints the entries for an id or a message, or every id if `asked` is empty. Returns 0, or 1 if there is none."""
    every = _ids.entries()
    if not every:
        print("dlx-torch: this installation has no page to explain from: reinstall dlx-torch-ext", file=sys.stderr)
        return 1
    if not asked:
        print("\n".join(f"{entry.id}  {entry.quote}" for entry in every))
        return 0
    found = [entry for entry in every if entry.id == asked.upper()] or _ids.find(asked)
    if not found:
        print(f"dlx-torch: {asked!r} is no id and no known message: `dlx-torch explain` lists them", file=sys.stderr)
        return 1
    print("\n\n".join(f"{entry.id}: {entry.quote}\n\n{entry.text}" for entry in found))
    return 0
