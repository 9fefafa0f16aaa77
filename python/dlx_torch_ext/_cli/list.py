"""`dlx-torch list`: the libraries shipped and those built here; the one that fits the torch here is marked."""

from __future__ import annotations

import sys

from .. import _api, _attach, _cache, _facts
from .._resolve import Accepted
from .._variants import read_manifest


def run() -> int:
    """Prints the list; returns 0, or 1 if there is no library."""
    facts = _attach.facts_without_ours(*_facts.import_torch())
    manifest, built = read_manifest(), _cache.built_for(facts)
    if manifest.problem and not built:
        print(f"dlx-torch: {manifest.problem}", file=sys.stderr)
        return 1
    resolution = _api.resolve(facts)
    fitting = {c.library for c in resolution.candidates if c.provider != "upstream" and isinstance(c.verdict, Accepted)}
    for variant in (*manifest.variants, *built):
        where = f", built here: {variant.path}" if variant in built else ""
        print(f"{'*' if variant.path in fitting else ' '} {variant.name}{where}")
    print(f"\n{resolution.reason}")
    return 0
