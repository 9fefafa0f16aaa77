"""The SDK of every row of variants.toml for the machine this runs on: what comes before cibuildwheel.

    DLX_DEV_DIR=build/dev python -m tools.sdk.every_row && SOURCE_DATE_EPOCH=... python -m cibuildwheel

On x86_64 Linux the headers of ROCm lie beside them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools import matrix
from tools.sdk import fetch, rocm
from tools.settings import ToolError, machine, print_all


def fetch_with_rocm(release: str, arch: str, *, whole: bool = True) -> Path:
    """The SDK's folder, downloaded where it is not there yet. ToolError where there is none for that machine, or, on
    x86_64 Linux, where AMD's headers are not to be had: a wheel without its rocm libraries must not be published.
    One that need not be `whole` goes without them, as stderr and CMake then say."""
    folder = fetch.fetch(release, arch)
    if arch == "x86_64":  # ROCm has no other
        try:
            rocm.make(folder / "torch")
        except ToolError as error:
            if whole:
                raise
            print(f"Without the rocm backend: {error}", file=sys.stderr)
    return folder


if __name__ == "__main__":
    releases = dict.fromkeys(row.sdk for row in matrix.read().rows.values())
    sys.exit(print_all(fetch_with_rocm(release, machine()) for release in releases))
