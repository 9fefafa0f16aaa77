"""The symbols that the libraries of a torch release export, read from its SDK (tools/sdk/fetch.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.audit import names

Folder = Callable[[str, str], Path]  # (release, processor) -> the torch folder of the SDK


@dataclass(frozen=True)
class Exports:
    """The symbols of one library of torch. `other_processor` is set where the torch for this processor has no such
    library; then the symbols are those of the same release for that other processor."""

    symbols: frozenset[str]
    other_processor: str = ""

    @functools.cached_property
    def without_abi(self) -> frozenset[str]:
        """The names that depend on the C++ ABI, spelled so that they are the same for both."""
        abi_names = (s for s in self.symbols if "cxx11" in s or "Ss" in s or "Sb" in s)
        return frozenset(names.without_abi(s) for s in abi_names)

    @functools.cached_property
    def demangled(self) -> frozenset[str]:
        return frozenset(map(names.demangled, self.symbols))


class Sdks:
    """The SDKs of torch's releases. Each list of symbols is read once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._cache: dict[tuple[str, str, str], Exports | None] = {}

    def exports(self, release: str, processor: str, library: str) -> Exports | None:
        """The exports of `library` ("c10") in this release; None where no wheel of that release has it. For macOS the
        system's libraries that torch uses ("c++") are here too, with the symbols that torch uses.

        Many of torch's wheels for aarch64 have no CUDA. There the library for x86_64 is used: the name of a C++
        function contains only types, and so is the same on both processors.
        """
        for other in (processor, "x86_64") if processor == "aarch64" else (processor,):
            exports = self._read_list(release, other, library)
            if exports is not None:
                return exports if other == processor else Exports(exports.symbols, other)
        return None

    def _read_list(self, release: str, processor: str, library: str) -> Exports | None:
        key = (release, processor, library)
        if key not in self._cache:
            file = self._folder(release, processor) / "lib" / f"lib{library}.symbols"
            self._cache[key] = Exports(frozenset(file.read_text().split())) if file.is_file() else None
        return self._cache[key]
