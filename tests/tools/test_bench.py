"""What ./dev bench makes of the times that its processes tell."""

from __future__ import annotations

import io

from rich.console import Console

from tools.bench.providers import PROVIDERS, Provider
from tools.bench.report import print_tables, summary

PEER = Provider("peer", "2.9.1", reference=True)
OURS = Provider("ours", "2.9.1", ours=True)
NONE = Provider("none", "2.9.1")
ALONE = Provider("ours", "2.13.0", ours=True)
PROVIDED = [PEER, OURS, NONE, ALONE]


def turn(peer: float, ours: float) -> dict[str, dict[str, float]]:
    return {
        PEER.label: {"DLTensor": peer, "nop(x)": 10 * peer},
        OURS.label: {"DLTensor": ours, "nop(x)": 10 * ours},
        NONE.label: {"nop(x)": 100 * peer},
        ALONE.label: {"DLTensor": ours},
    }


def test_ratios_are_taken_turn_by_turn() -> None:
    # In the second turn the machine was ten times as slow, for both.
    results = summary(PROVIDED, [turn(10, 4), turn(100, 40), turn(20, 9)])
    assert results["DLTensor"][OURS.label] == {"ns": 9, "least": 4, "most": 40, "ratio": 0.4}
    assert results["DLTensor"][PEER.label]["ratio"] == 1
    assert results["nop(x)"][NONE.label]["ratio"] == 10


def test_who_lacks_a_table_or_a_reference_has_no_such_number() -> None:
    results = summary(PROVIDED, [turn(10, 4)])
    assert NONE.label not in results["DLTensor"]
    assert results["DLTensor"][ALONE.label]["ratio"] is None


def test_the_tables_have_each_torch_and_provider() -> None:
    out = io.StringIO()
    with_reference = [PEER, OURS, NONE]
    print_tables(Console(file=out, width=120), with_reference, summary(with_reference, [turn(10, 4)]))
    text = out.getvalue()
    assert "torch 2.9.1: median ns, ratio to peer" in text
    assert all(word in text for word in ("ours", "none", "4.0  0.40", "1000.0  10.00"))


def test_each_torch_has_one_reference() -> None:
    releases = {one.torch for one in PROVIDERS}
    assert sorted(one.torch for one in PROVIDERS if one.reference) == sorted(releases)
    assert len({one.label for one in PROVIDERS}) == len(PROVIDERS)
