"""Link stubs: a shared object's SONAME and exported symbols without its code. That is enough for a linker.

A linker reads only the SONAME and the dynamic symbol table of a shared object. So the stub of libtorch_cpu has a few MB
instead of 437, and a misspelt symbol still fails at link time (-z defs).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

# Names of the C++ standard library, of which torch's libraries contain copies. Our libraries must get them from
# libstdc++ itself.
_STANDARD_LIBRARY = re.compile(rb"_Z(T[ISV]|GV)?N?K?S[tabsiod]|_Z(nw|na|dl|da)")

_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, section, value, size
_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
_SHT_STRTAB, _SHT_DYNAMIC, _SHT_DYNSYM = 3, 6, 11
_DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 5, 6, 10, 11, 14
_GLOBAL, _WEAK = 1, 2
# The address of the first symbol. Each symbol has an address of its own: a linker takes symbols at the same address for
# aliases, and whoever links against one of them gets all of them as undefined symbols.
_ADDRESS = 0x1000


@dataclass(frozen=True)
class Exports:
    """The exports of a shared object: its SONAME, its processor (e_machine), and (name, info byte, size) per symbol."""

    soname: str
    machine: int
    symbols: tuple[tuple[bytes, int, int], ...]

    def names(self) -> list[str]:
        return sorted(name.decode() for name, _, _ in self.symbols)


def read(stream: BinaryIO) -> Exports:
    """The exports of a 64-bit ELF shared object, without those of the C++ standard library. ValueError where the file
    is something else."""
    elf = ELFFile(stream)
    dynamic, table, strings = (elf.get_section_by_name(name) for name in (".dynamic", ".dynsym", ".dynstr"))
    if elf.elfclass != 64 or not isinstance(dynamic, DynamicSection) or table is None or strings is None:
        raise ValueError("not a 64-bit ELF shared object")
    sonames = [tag.soname for tag in dynamic.iter_tags("DT_SONAME")]
    text: bytes = strings.data()
    symbols = []
    for start, info, other, section, _, size in _SYMBOL.iter_unpack(table.data()):
        if section == 0 or other & 3 or info >> 4 not in (_GLOBAL, _WEAK, 10):  # defined, visible, global/weak/unique
            continue
        name = text[start : text.index(b"\0", start)]
        if not _STANDARD_LIBRARY.match(name):
            symbols.append((name, info, size))
    return Exports(str(sonames[0]) if sonames else "", _machine(stream), tuple(sorted(symbols)))


def _machine(stream: BinaryIO) -> int:
    stream.seek(18)  # e_machine of the ELF header
    return int.from_bytes(stream.read(2), "little")


def write(exports: Exports, path: Path) -> None:
    """Write a stub with these exports."""
    strings = bytearray(b"\0")
    symbols = bytearray(_SYMBOL.size)

    def add_string(text: bytes) -> int:
        strings.extend(text + b"\0")
        return len(strings) - len(text) - 1

    for index, (name, info, size) in enumerate(exports.symbols):
        symbols += _SYMBOL.pack(add_string(name), info, 0, 1, _ADDRESS + 16 * index, size)
    soname = add_string(exports.soname.encode())
    tags = [(_DT_SONAME, soname), (_DT_STRTAB, 0), (_DT_STRSZ, len(strings)), (_DT_SYMTAB, 0), (_DT_SYMENT, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)

    # Sections: the null one, an empty text section that symbols refer to, then the three tables and the section names.
    names = b"\0.text\0.dynsym\0.dynstr\0.dynamic\0.shstrtab\0"
    body = bytearray()
    headers = [_SECTION.pack(*[0] * 10)]

    def add_section(name: bytes, kind: int, flags: int, data: bytes, link: int, info: int, entry: int) -> None:
        offset = _HEADER.size + len(body)
        body.extend(data + bytes(-len(data) % 16))
        headers.append(
            _SECTION.pack(names.index(name), kind, flags, _ADDRESS, offset, len(data), link, info, 16, entry)
        )

    add_section(b".text", 1, 6, b"\0" * 16, 0, 0, 0)
    add_section(b".dynsym", _SHT_DYNSYM, 2, bytes(symbols), 3, 1, _SYMBOL.size)
    add_section(b".dynstr", _SHT_STRTAB, 2, bytes(strings), 0, 0, 0)
    add_section(b".dynamic", _SHT_DYNAMIC, 3, dynamic, 3, 0, 16)
    add_section(b".shstrtab", _SHT_STRTAB, 0, names, 0, 0, 0)
    header = _HEADER.pack(
        b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), 3, exports.machine, 1, 0, 0, _HEADER.size + len(body), 0,
        _HEADER.size, 0, 0, _SECTION.size, len(headers), len(headers) - 1,
    )  # fmt: skip
    path.write_bytes(header + body + b"".join(headers))
