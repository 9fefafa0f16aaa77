"""Reads what a shared library needs: the libraries that it loads, and the functions that it leaves undefined."""

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
    """A function that another library has to define; `library` and `node` are None if it has no version."""

    symbol: str
    library: str | None
    node: str | None


class Needs(NamedTuple):
    """The names of the NEEDED entries of a shared library, and its undefined functions."""

    libraries: list[str]
    symbols: list[Undefined]


def read(path: Path) -> Needs:
    """Return the needs of the shared library at `path`, without weak functions, which may stay undefined."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        libraries = [tag.needed for tag in _section(elf, ".dynamic", DynamicSection).iter_tags("DT_NEEDED")]
        nodes = {
            node["vna_other"]: (library.name, node.name)
            for library, library_nodes in _section(elf, ".gnu.version_r", GNUVerNeedSection).iter_versions()
            for node in library_nodes
        }
        names = _section(elf, ".dynstr", Section).data()
        # The tables are read whole. torch has 100,000 symbols, and pyelftools would need seconds to go through them.
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
