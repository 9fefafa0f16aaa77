"""Command line: build the simulated libc10_hip and print the folder to put on LD_LIBRARY_PATH."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.simulators.rocm import build


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulators.rocm", description=__doc__)
    parser.add_argument("--generation", type=int, choices=(1, 2), default=1, help="of hipify: 2 from torch 2.11 on")
    parser.add_argument("--out", type=Path, required=True, help="where to keep what is built")
    arguments = parser.parse_args()
    print(build(arguments.out, arguments.generation))
    return 0


if __name__ == "__main__":
    sys.exit(main())
