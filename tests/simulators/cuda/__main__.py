"""Command line: build the simulated CUDA for one torch and print the folder to put on LD_LIBRARY_PATH."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.simulators.cuda.generate import build


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulators.cuda", description=__doc__)
    parser.add_argument("--torch", type=Path, required=True, help="the torch package folder, as in site-packages/torch")
    parser.add_argument("--out", type=Path, required=True, help="where to keep what is built, one subfolder a torch")
    arguments = parser.parse_args()
    try:
        print(build(arguments.torch, arguments.out))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
