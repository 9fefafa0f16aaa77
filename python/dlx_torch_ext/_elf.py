"""Checks an ELF file before the loader opens it: for a truncated file dlopen may not fail, but kill the process."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_PHDR = struct.Struct("<IIQQQQQQ")
_SHDR = struct.Struct("<IIQQQQIIQQ")

_MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
_ET_DYN = 3
_SHT_NOBITS = 8
_MACHINES = {"x86_64": 62, "aarch64": 183}


def problem(path: str, machine: str) -> str:
    """Why the file at `path` is not a complete shared library for `machine`, or "". OSError if it cannot be read."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(_EHDR.size)
        if len(header) < _EHDR.size:
            return f"truncated: {size} bytes, shorter than an ELF header"
        (ident, file_type, file_machine, _, _, phoff, shoff, _, _, phentsize, phnum, shentsize, shnum, _) = (
            _EHDR.unpack(header)
        )
        if not ident.startswith(_MAGIC_64_LITTLE):
            return "not a 64-bit little-endian ELF file"
        if file_type != _ET_DYN or file_machine != _MACHINES.get(machine, file_machine):
            return f"not a shared library for {machine}: ELF type {file_type}, machine {file_machine}"
        if (phnum and phentsize != _PHDR.size) or (shnum and shentsize != _SHDR.size):
            return "damaged: its ELF header does not describe its tables"
        needed = max(
            phoff + phnum * _PHDR.size,
            shoff + shnum * _SHDR.size,
            _end_of_segments(file, phoff, phnum),
            _end_of_sections(file, shoff, shnum),
        )
    return f"truncated: {size} bytes of at least {needed}" if size < needed else ""


def _entries(file: BinaryIO, layout: struct.Struct, offset: int, count: int) -> list[tuple[int, ...]]:
    """The complete entries in the file. Where a table is cut off, its last entry is missing; the caller, which knows
    where the table ends, notices that."""
    file.seek(offset)
    data = file.read(count * layout.size)
    return list(layout.iter_unpack(data[: len(data) - len(data) % layout.size]))


def _end_of_segments(file: BinaryIO, offset: int, count: int) -> int:
    return max((p[2] + p[5] for p in _entries(file, _PHDR, offset, count)), default=0)


def _end_of_sections(file: BinaryIO, offset: int, count: int) -> int:
    return max((s[4] + s[5] for s in _entries(file, _SHDR, offset, count) if s[1] != _SHT_NOBITS), default=0)
