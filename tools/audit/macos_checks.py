"""Checks of what macOS alone asks of a library."""

from __future__ import annotations

from collections.abc import Iterator

from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, macos_of


def oldest_macos(wheel: Wheel) -> Iterator[Finding]:
    """Each library is for the macOS that the tag promises, or an older one."""
    promised = [macos for platform in wheel.platforms if (macos := macos_of(platform))]
    for library, binary in wheel.binaries if promised else ():
        if not (0,) < binary.macos <= min(promised):
            asked, enough = (".".join(map(str, version)) or "none" for version in (binary.macos, min(promised)))
            yield Finding(library.member, f"is for macOS {asked}, and the tag promises {enough}")


def signed(wheel: Wheel) -> Iterator[Finding]:
    """macOS on arm64 loads nothing without a code signature. The linker's own is enough; a tool that changes the file
    afterwards may drop it."""
    for library, binary in wheel.binaries:
        if not binary.signed:
            yield Finding(library.member, "has no code signature")
