"""What a library needs from other libraries and what it exports, in one form for ELF, Mach-O and PE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Owner = Literal["torch", "python", "system"]


@dataclass(frozen=True)
class Undefined:
    """A symbol that a library uses and another one has to define, spelled as the compiler does. `owner`: who has to
    define it, which is torch if neither CPython nor the system does. `used`: code or data of the library refers to it.

    `library`: the library that has to define it; empty where any loaded library may. In an ELF file only versioned
    symbols name a library, and `node` is their version ("GLIBC_2.14").
    """

    name: str
    owner: Owner
    weak: bool = False
    used: bool = True
    library: str = ""
    node: str = ""


@dataclass(frozen=True)
class Binary:
    """One library. `versions`: the (library, node) pairs that ELF's loader requires. `macos`: the oldest macOS that a
    Mach-O file is for. `signed`: whether it has the code signature that macOS requires on arm64. `relro`: whether ELF's
    loader makes the tables of addresses read-only, once they are filled; `binds_now`: whether it fills them at once."""

    processor: str
    needed: tuple[str, ...]
    search_paths: tuple[str, ...]
    undefined: tuple[Undefined, ...]
    exported: tuple[str, ...]
    versions: tuple[tuple[str, str], ...] = ()
    macos: tuple[int, ...] = ()
    signed: bool = True
    relro: bool = True
    binds_now: bool = True

    def undefined_of(self, owner: Owner) -> tuple[Undefined, ...]:
        return tuple(symbol for symbol in self.undefined if symbol.owner == owner)


def decoded(name: str | bytes) -> str:
    """A name that lief has read, as str: lief gives bytes where it is not UTF-8."""
    return name if isinstance(name, str) else name.decode(errors="replace")


def is_python_symbol(name: str) -> bool:
    return name.startswith(("Py", "_Py"))
