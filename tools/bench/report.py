"""What ./dev bench shows: medians, their spread, and ratios that are taken turn by turn."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.bench.providers import Provider

Turn = dict[str, dict[str, float]]  # the times of each provider's operations in ns, by label and name


def summary(providers: Sequence[Provider], turns: Sequence[Turn]) -> dict[str, dict[str, Any]]:
    """By operation and label: the median in ns, the least and the most, and the ratio to the reference of the same
    torch: the median of the turns' ratios, so that a turn in which the machine was slow counts like any other."""
    references = {one.torch: one.label for one in providers if one.reference}
    names = dict.fromkeys(name for turn in turns for times in turn.values() for name in times)
    results: dict[str, dict[str, Any]] = {name: {} for name in names}
    for name, one in ((name, one) for name in names for one in providers):
        times = [turn[one.label][name] for turn in turns if name in turn[one.label]]
        if not times:
            continue
        reference = references.get(one.torch, "")
        ratios = [
            turn[one.label][name] / turn[reference][name]
            for turn in turns
            if name in turn.get(reference, {}) and name in turn[one.label]
        ]
        results[name][one.label] = {
            "ns": round(statistics.median(times), 1),
            "least": round(min(times), 1),
            "most": round(max(times), 1),
            "ratio": round(statistics.median(ratios), 3) if ratios else None,
        }
    return results


def print_tables(console: Console, providers: Sequence[Provider], results: dict[str, dict[str, Any]]) -> None:
    """A table for each torch: ns, and the ratio to the reference."""
    for torch in dict.fromkeys(one.torch for one in providers):
        own = [one for one in providers if one.torch == torch]
        table = Table(title=f"torch {torch}: median ns, ratio to {next(one.name for one in own if one.reference)}")
        table.add_column("")
        for one in own:
            table.add_column(one.name, justify="right")
        for name, by_label in results.items():
            table.add_row(name, *(_cell(by_label.get(one.label)) for one in own))
        console.print(table)


def _cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return ""
    ratio = "" if result["ratio"] is None else f"  {result['ratio']:.2f}"
    return f"{result['ns']:.1f}{ratio}"
