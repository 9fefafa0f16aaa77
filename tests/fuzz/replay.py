"""Inputs that libFuzzer has kept, once each, in this process and without libFuzzer: for coverage and for a debugger.

python -m tests.fuzz.replay FILE_OR_FOLDER...
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fuzz import harness


def main(*places: str) -> None:
    files = [file for place in map(Path, places) for file in (sorted(place.iterdir()) if place.is_dir() else [place])]
    harness.replay(harness.started_target(), (file.read_bytes() for file in files))
    print(f"{len(files)} inputs replayed")


if __name__ == "__main__":
    main(*sys.argv[1:])
