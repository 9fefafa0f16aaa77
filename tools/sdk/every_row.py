"""Download the SDK of every row of variants.toml for this machine; cibuildwheel needs them.

    DLX_DEV_DIR=build/dev python -m tools.sdk.every_row && SOURCE_DATE_EPOCH=... python -m cibuildwheel

On x86_64 Linux each SDK also gets the headers of a ROCm build.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools import matrix
from tools.sdk import fetch, rocm
from tools.settings import ToolError, machine, print_all


def fetch_with_rocm(release: str, arch: str, *, require_rocm: bool = True) -> Path:
    """The SDK's folder, downloaded if it is missing, and on x86_64 Linux the ROCm headers beside it.

    ToolError where there is no SDK for that machine, or where the ROCm headers cannot be made: a wheel without its rocm
    libraries must not be published. Without `require_rocm`, missing ROCm headers are only a line on stderr; the wheel
    then has no rocm libraries, and CMake says so too."""
    folder = fetch.fetch(release, arch)
    if arch == "x86_64":  # ROCm exists for no other processor
        try:
            rocm.make_headers(folder / "torch")
        except ToolError as error:
            if require_rocm:
                raise
            print(f"Without the rocm backend: {error}", file=sys.stderr)
    return folder


if __name__ == "__main__":
    releases = dict.fromkeys(row.sdk for row in matrix.read().rows.values())
    sys.exit(print_all(fetch_with_rocm(release, machine()) for release in releases))
