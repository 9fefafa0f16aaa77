"""The files of the target. This module imports nothing of torch, because tools compile the target, too."""

from __future__ import annotations

from pathlib import Path

ROOM = Path(__file__).parent
SOURCES = sorted(ROOM.glob("*.cc"))
HEADERS = sorted(ROOM.glob("*.h"))

# What fuzz_counts() of target.cc counts.
COUNTED = ("imports", "blocks handed back", "allocations", "exports", "streams")
