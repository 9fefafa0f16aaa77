"""Reads a version of torch: its release line, and whether it is a release of PyTorch."""

from __future__ import annotations

from ._record import Record

# PyTorch's own builds have one of these local tags, or cu or rocm with a number; some have one of the suffixes too. A
# torch with any other tag was built by somebody else, perhaps from changed sources: its headers may differ from those
# of the release, and then a library for the release corrupts memory.
_LOCAL_TAGS = ("cpu", "xpu")
_TAG_SUFFIXES = ("cxx11.abi", "with.pypi.cudnn")


class Release(Record):
    """`line`: the release line, (2, 9), None if the version does not start with one. `problem`: why this is not a
    release of PyTorch; "" if it is one."""

    line: tuple[int, int] | None
    problem: str = ""


def parse(version: str) -> Release:
    """Reads torch.__version__. Never raises."""
    public, plus, local = version.strip().partition("+")
    parts = public.split(".")
    if not (len(parts) > 1 and parts[0].isdecimal() and parts[1].isdecimal()):
        return Release(None, f"torch.__version__ is {version!r}, which is not a version number")
    line = (int(parts[0]), int(parts[1]))
    if not all(part.isdecimal() for part in parts[:-1]) or not _is_number(parts[-1], "post"):
        return Release(line, f"torch {version} is a pre-release, nightly or vendor build, not a release of PyTorch")
    if plus and not _is_pytorch_tag(local):
        return Release(line, f"torch {version} has the local tag +{local}, which no release of PyTorch has")
    return Release(line)


def _is_pytorch_tag(local: str) -> bool:
    for suffix in _TAG_SUFFIXES:
        local = local.replace(f".{suffix}", "")
    tag, *numbers = local.split(".")
    if tag in _LOCAL_TAGS or _is_prefixed_number(tag, "cu"):
        return not numbers
    return _is_prefixed_number(tag, "rocm") and all(number.isdecimal() for number in numbers)


def _is_number(text: str, prefix: str) -> bool:
    return text.isdecimal() or _is_prefixed_number(text, prefix)


def _is_prefixed_number(text: str, prefix: str) -> bool:
    return text.startswith(prefix) and text[len(prefix) :].isdecimal()
