"""`dlx-torch list`: the libraries of this installation and those built here; what fits the torch here is marked."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .. import _api, _attach, _cache, _facts
from .._resolve import Accepted
from .._variants import Variant, read_manifest
from .report import on_request
from .screen import Screen
from .summary import LEGEND


def run(everything: bool = False) -> int:
    """Prints what fits and a line for each release line of torch, or, with `everything`, a line for each library.
    Returns 0, or 1 if there is no library."""
    facts = _attach.facts_without_ours(*_facts.import_torch())
    manifest, built = read_manifest(), _cache.built_for(facts)
    if manifest.problem and not built:
        print(f"dlx-torch: {manifest.problem}", file=sys.stderr)
        return 1
    resolution = _api.resolve(facts)
    fitting = {c.library for c in resolution.candidates if c.provider != "upstream" and isinstance(c.verdict, Accepted)}
    screen = Screen()
    for variant in (*manifest.variants, *built):
        if everything or variant in built or variant.path in fitting:
            mark = "*" if variant.path in fitting else " "
            where = f", built here: {variant.path}" if variant in built else ""
            screen.text(f"{mark} {variant.name}{where}", "good" if mark == "*" else "", hang=4)
    if not everything:
        _by_release_line(manifest.variants, screen)
    screen.blank()
    screen.text(LEGEND)
    screen.text(resolution.reason)
    ours = on_request(facts) if resolution.provider == "upstream" else None
    if ours:
        screen.text(f"DLX_TORCH_PREFER=dlx takes {ours} in its place")
    screen.show()
    return 0


def _by_release_line(variants: Sequence[Variant], screen: Screen) -> None:
    """A line for each release line of torch; a second one where its C++ ABIs have different libraries."""
    backends: dict[tuple[str, str, bool | None], list[str]] = {}
    for variant in variants:
        row = (variant.torch or "any", variant.serves, variant.cxx11_abi)
        backends.setdefault(row, []).append(variant.backend)
    lines: dict[tuple[str, str, str], list[str]] = {}
    for (torch, serves, cxx11_abi), found in backends.items():
        abi = "any" if cxx11_abi is None else "cxx11" if cxx11_abi else "cxx98"
        lines.setdefault((torch, serves, ", ".join(found)), []).append(abi)
    screen.blank()
    screen.text(_columns("torch", "C++ ABI", "libraries for"), "label")
    for (torch, serves, names), abis in lines.items():
        screen.text(_columns(torch, ", ".join(abis), names + _WHEN.get(serves, "")), hang=21)


_WHEN = {"prefer": " (DLX_TORCH_PREFER=dlx)", "overlay": " (over torch's own table)"}


def _columns(torch: str, abis: str, libraries: str) -> str:
    return f"{torch:<6} {abis:<13} {libraries}"
