"""What a library asks of others and offers them, in the same words for ELF, Mach-O and PE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Owner = Literal["torch", "python", "system"]


@dataclass(frozen=True)
class Undefined:
    """A symbol that a library leaves to others, as the compiler spells it. `owner`: who has to have it; what neither
    CPython nor the system has, torch has to. `used`: some code or data of the library refers to it.

    `library` is the one that it is bound to, and empty where any that is loaded will do: ELF binds nothing but
    versioned symbols, whose version `node` names ("GLIBC_2.14").
    """

    name: str
    owner: Owner
    weak: bool = False
    used: bool = True
    library: str = ""
    node: str = ""


@dataclass(frozen=True)
class Binary:
    """One library. `versions`: the (library, node) pairs that ELF's loader will insist on. `macos`: the oldest macOS
    that a Mach-O file is for. `signed`: as macOS wants it on arm64."""

    processor: str
    needed: tuple[str, ...]
    search_paths: tuple[str, ...]
    undefined: tuple[Undefined, ...]
    exported: tuple[str, ...]
    versions: tuple[tuple[str, str], ...] = ()
    macos: tuple[int, ...] = ()
    signed: bool = True

    def of(self, owner: Owner) -> tuple[Undefined, ...]:
        return tuple(symbol for symbol in self.undefined if symbol.owner == owner)


def text(name: str | bytes) -> str:
    """A name as lief gives it, which is bytes where it is no UTF-8."""
    return name if isinstance(name, str) else name.decode(errors="replace")


def of_python(name: str) -> bool:
    return name.startswith(("Py", "_Py"))
