"""Reads from a shared library what it asks of others: the libraries it loads, and the functions it does not define."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple, TypeVar

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import Section

Kind = TypeVar("Kind", bound=Section)


class Undefined(NamedTuple):
    """A function that a library leaves to others; library and version node are None where it is unversioned."""

    symbol: str
    library: str | None
    node: str | None


class Needs(NamedTuple):
    """What a shared library asks for: the names of its NEEDED entries, and its undefined functions."""

    libraries: list[str]
    symbols: list[Undefined]


def read(path: Path) -> Needs:
    """Return what the shared library at `path` asks for. Weak functions are left out, since they may stay undefined."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        libraries = [tag.needed for tag in _section(elf, ".dynamic", DynamicSection).iter_tags("DT_NEEDED")]
        nodes = {
            node["vna_other"]: (library.name, node.name)
            for library, library_nodes in _section(elf, ".gnu.version_r", GNUVerNeedSection).iter_versions()
            for node in library_nodes
        }
        names = _section(elf, ".dynstr", Section).data()
        # The tables are read whole: going through pyelftools symbol by symbol takes seconds, since torch has 100,000.
        symbols = struct.iter_unpack("<IBBHQQ", _section(elf, ".dynsym", Section).data())
        indices = struct.iter_unpack("<H", _section(elf, ".gnu.version", Section).data())
        undefined = []
        for (name, info, _, section, _, _), (index,) in zip(symbols, indices):
            if section == 0 and info >> 4 == 1:  # SHN_UNDEF, STB_GLOBAL
                symbol = names[name : names.index(b"\0", name)].decode()
                undefined.append(Undefined(symbol, *nodes.get(index, (None, None))))
    return Needs(libraries, undefined)


def _section(elf: ELFFile, name: str, kind: type[Kind]) -> Kind:
    section = elf.get_section_by_name(name)
    assert isinstance(section, kind), f"{elf.stream.name} has no {name}"
    return section
