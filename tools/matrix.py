"""variants.toml for the tools, by the package's own reader. As a command, the list of what CI tests of it:

python -m tools.matrix     prints {"include": [{"torch": "2.9.1", "python": "3.11"}, ...]}, the matrix of a workflow
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.settings import ROOT, ToolError

sys.path.append(str(ROOT / "python"))  # the package itself, where it is not installed

from dlx_torch_ext._cli import matrix as reader
from dlx_torch_ext._cli.matrix import OVERLAY, Backend, Matrix, Row

__all__ = ["OVERLAY", "TOML", "Backend", "Matrix", "Row", "read", "tested"]

TOML = ROOT / "variants.toml"
# The oldest CPython that is served, one in the middle and one of the newest: the libraries are the same on all.
_TESTED = ("3.9", "3.11", "3.13")


def read(path: Path = TOML) -> Matrix:
    """The matrix; ToolError where variants.toml says something that nobody would follow."""
    try:
        return reader.read(path)
    except reader.MatrixError as error:
        raise ToolError(str(error)) from None


def tested(matrix: Matrix) -> list[dict[str, str]]:
    """What CI tests the wheel on: the torch release of each row, with some of the CPythons it has wheels for."""
    releases = {row.sdk: row for row in matrix.rows.values()}
    return [
        {"torch": release, "python": python}
        for release, row in releases.items()
        for python in [it for it in _TESTED if _has_wheel_for(row, it)] or [row.cpython.partition("-")[0]]
    ]


def _has_wheel_for(row: Row, python: str) -> bool:
    oldest, _, newest = row.cpython.partition("-")
    return _number(oldest) <= _number(python) <= _number(newest)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    print(json.dumps({"include": tested(read())}))
