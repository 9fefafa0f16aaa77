"""Reads a torch version string: which release line it belongs to, and whether it is a release of PyTorch at all."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEADING = re.compile(r"\s*v?(\d+)\.(\d+)")
_PUBLIC = re.compile(r"\d+\.\d+(\.\d+)*(\.post\d+)?")

# The tags PyTorch's own builds carry. Anything else was built by somebody else, from sources that may have been
# changed: two builds of one x.y may then differ in their headers, and a library compiled for one corrupts memory in the
# other.
_LOCAL = re.compile(r"(cpu|cu\d+|rocm\d+(\.\d+)*|xpu)(\.cxx11\.abi)?(\.with\.pypi\.cudnn)?")


@dataclass(frozen=True)
class Release:
    """`series` is the leading (x, y), None where there is none; `problem` says why this is no release, empty where it
    is one."""

    series: tuple[int, int] | None
    problem: str = ""


def parse(version: str) -> Release:
    """Reads `version` as torch prints it; never raises."""
    leading = _LEADING.match(version)
    if leading is None:
        return Release(None, f"torch calls itself {version!r}, which is no version number")
    series = (int(leading[1]), int(leading[2]))
    public, _, local = version.strip().partition("+")
    if not _PUBLIC.fullmatch(public):
        return Release(series, f"torch {version} is a pre-release, nightly or vendor build, not a release of PyTorch")
    if local and not _LOCAL.fullmatch(local):
        return Release(series, f"torch {version} carries the tag +{local}, which no release of PyTorch carries")
    return Release(series)
