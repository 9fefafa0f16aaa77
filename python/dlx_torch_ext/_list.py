"""`dlx-torch list`: the libraries of this installation, the one that fits the torch here marked."""

from __future__ import annotations

import sys

from ._attach import resolve
from ._resolve import Accepted
from ._variants import read_manifest


def run() -> int:
    """Prints the list; returns 0, or 1 if this installation has no library."""
    manifest = read_manifest()
    if manifest.problem:
        print(f"dlx-torch: {manifest.problem}", file=sys.stderr)
        return 1
    resolution = resolve()
    fitting = {c.library for c in resolution.candidates if c.provider != "upstream" and isinstance(c.verdict, Accepted)}
    for variant in manifest.variants:
        print(f"{'*' if variant.path in fitting else ' '} {variant.name}")
    print(f"\n{resolution.reason}")
    return 0
