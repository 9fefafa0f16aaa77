"""Checks of what only macOS requires of a library."""

from __future__ import annotations

from collections.abc import Iterator

from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, macos_of


def oldest_macos(wheel: Wheel) -> Iterator[Finding]:
    """Each library is for the macOS that the tag names, or an older one."""
    tagged = [macos for platform in wheel.platforms if (macos := macos_of(platform))]
    for library, binary in wheel.binaries if tagged else ():
        if not (0,) < binary.macos <= min(tagged):
            needs, tag = (".".join(map(str, version)) or "none" for version in (binary.macos, min(tagged)))
            yield Finding(library.member, f"is for macOS {needs} or newer; the wheel's tag is for macOS {tag}")


def signed(wheel: Wheel) -> Iterator[Finding]:
    """Each library has a code signature: macOS on arm64 loads nothing without one. The signature that the linker makes
    is enough, but a tool that changes the file afterwards may remove it."""
    for library, binary in wheel.binaries:
        if not binary.signed:
            yield Finding(library.member, "has no code signature, and macOS on arm64 loads no such library")
