"""The SDK of every row of variants.toml for the machine this runs on: what comes before cibuildwheel.

    DLX_DEV_DIR=build/dev python -m tools.sdks && SOURCE_DATE_EPOCH=... python -m cibuildwheel

On x86_64 Linux the headers of ROCm lie beside them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools import hipify, matrix, sdk
from tools.settings import ToolError, machine


def fetch(release: str, arch: str) -> Path:
    """The SDK's folder, downloaded where it is not there yet. ToolError where there is none for that machine, or, on
    x86_64 Linux, where AMD's headers are not to be had: a wheel without its rocm libraries must not be published."""
    folder = sdk.fetch(release, arch)
    if arch == "x86_64":  # ROCm has no other
        hipify.make(folder / "torch")
    return folder


def main() -> int:
    try:
        for release in dict.fromkeys(row.sdk for row in matrix.read().rows.values()):
            print(fetch(release, machine()), flush=True)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
