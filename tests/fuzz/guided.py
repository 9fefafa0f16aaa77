"""libFuzzer in this process: python -m tests.fuzz.guided TARGET COUNTS [option of libFuzzer]...

TARGET is the compiled target; libFuzzer itself is in LD_PRELOAD. It ends the process; the file COUNTS then has a line
for each of COUNTED in sources.py: the calls, and how many of them were accepted.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from tests.fuzz import harness


def main(path: str, counts: str, *options: str) -> None:
    target = harness.bind(Path(path))
    harness.start(target)
    words = [b"fuzz", *(option.encode() for option in options)]
    target.fuzz_guided(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None), counts.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
