"""Command line: build the simulated CANN for one torch_npu and print the folder to put on LD_LIBRARY_PATH."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.simulators.ascend.generate import build


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulators.ascend", description=__doc__)
    parser.add_argument(
        "--torch-npu", type=Path, required=True, help="the torch_npu package folder, as in site-packages/torch_npu"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="where to keep what is built, one subfolder a torch_npu"
    )
    arguments = parser.parse_args()
    try:
        print(build(arguments.torch_npu, arguments.out))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
