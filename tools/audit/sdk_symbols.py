"""What the real libraries of a torch release export, out of its SDK (tools/sdk/fetch.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.audit import names

Folder = Callable[[str, str], Path]  # (release, processor) -> the torch folder of the SDK


@dataclass(frozen=True)
class Exports:
    """The symbols of one library of torch. `elsewhere` is set where this processor's torch has no such library, and the
    symbols are those of the same release for another."""

    symbols: frozenset[str]
    elsewhere: str = ""

    @functools.cached_property
    def without_abi(self) -> frozenset[str]:
        """The names of which there are two, one for each C++ ABI, spelled alike."""
        both = (s for s in self.symbols if "cxx11" in s or "Ss" in s or "Sb" in s)
        return frozenset(names.without_abi(s) for s in both)

    @functools.cached_property
    def demangled(self) -> frozenset[str]:
        return frozenset(map(names.demangled, self.symbols))


class Sdks:
    """The SDKs of torch's releases; each is read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: dict[tuple[str, str, str], Exports | None] = {}

    def exports(self, release: str, processor: str, library: str) -> Exports | None:
        """What `library` ("c10") exports in this release; None where no wheel of it has the library. For macOS there
        are also those of the system that torch needs ("c++").

        torch's wheels for aarch64 have been without CUDA for long. The names of C++ functions are made of types alone,
        and are the same on both processors, so there the other's library stands in.
        """
        for other in (processor, "x86_64") if processor == "aarch64" else (processor,):
            found = self._one(release, other, library)
            if found is not None:
                return found if other == processor else Exports(found.symbols, other)
        return None

    def _one(self, release: str, processor: str, library: str) -> Exports | None:
        key = (release, processor, library)
        if key not in self._read:
            listed = self._folder(release, processor) / "lib" / f"lib{library}.symbols"
            self._read[key] = Exports(frozenset(listed.read_text().split())) if listed.is_file() else None
        return self._read[key]
