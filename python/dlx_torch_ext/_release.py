"""Reads a torch version string: which release line it belongs to, and whether it is a release of PyTorch at all."""

from __future__ import annotations

import re

from ._record import Record

_PUBLIC = r"\d+(\.\d+)+(\.post\d+)?"

# The tags PyTorch's own builds carry. Anything else was built by somebody else, from sources that may have been
# changed: two builds of one x.y may then differ in their headers, and a library compiled for one corrupts memory in the
# other.
_LOCAL = r"(cpu|cu\d+|rocm\d+(\.\d+)*|xpu)(\.cxx11\.abi)?(\.with\.pypi\.cudnn)?"


class Release(Record):
    """`series` is the leading (x, y), None where there is none; `problem` says why this is no release, empty where it
    is one."""

    series: tuple[int, int] | None
    problem: str = ""


def parse(version: str) -> Release:
    """Reads `version` as torch prints it; never raises."""
    public, _, local = version.strip().partition("+")
    leading = public.split(".")[:2]
    if len(leading) != 2 or not all(part.isdecimal() for part in leading):
        return Release(None, f"torch calls itself {version!r}, which is no version number")
    series = (int(leading[0]), int(leading[1]))
    if not re.fullmatch(_PUBLIC, public):
        return Release(series, f"torch {version} is a pre-release, nightly or vendor build, not a release of PyTorch")
    if local and not re.fullmatch(_LOCAL, local):
        return Release(series, f"torch {version} carries the tag +{local}, which no release of PyTorch carries")
    return Release(series)
