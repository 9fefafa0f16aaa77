"""Checks an ELF file before the loader opens it: for a truncated file dlopen may not fail, but kill the process. Reads
the id of a build."""

from __future__ import annotations

import os
import stat
import struct
from typing import BinaryIO

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_PHDR = struct.Struct("<IIQQQQQQ")
_SHDR = struct.Struct("<IIQQQQIIQQ")

_MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
_ET_DYN = 3
_PT_NOTE = 4
_SHT_NOBITS = 8
_BUILD_ID = b"\x03\0\0\0GNU\0"  # NT_GNU_BUILD_ID and the owner's name; before them comes the length of the id
_MACHINES = {"x86_64": 62, "aarch64": 183}


def problem(path: str, machine: str) -> str:
    """Why the file at `path` is not a complete shared library for `machine`, or "". OSError if it cannot be read."""
    with _open(path) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            return "not a regular file"
        size = state.st_size
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


def build_id(path: str) -> str:
    """The id that the linker gave the library at `path`, in hexadecimal; "" where it has none, and where the file is no
    ELF file. OSError if it cannot be read."""
    with _open(path) as file:
        header = file.read(_EHDR.size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
        if len(header) < _EHDR.size or not header.startswith(_MAGIC_64_LITTLE):
            return ""
        fields = _EHDR.unpack(header)
        for segment in _entries(file, _PHDR, fields[5], fields[10]):
            if segment[0] == _PT_NOTE:
                file.seek(segment[2])
                before, found, after = file.read(min(segment[5], 4096)).partition(_BUILD_ID)
                if found:
                    return after[: int.from_bytes(before[-4:], "little")].hex()
    return ""


def _open(path: str) -> BinaryIO:
    """Opens a file to read it. A FIFO, too, is opened at once, although nobody may ever write to it."""
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))


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
