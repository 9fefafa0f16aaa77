"""Reads a library for Windows, from its bytes: nothing of it is loaded."""

from __future__ import annotations

import re

import lief
from lief import PE

from tools.audit.binary import Binary, Owner, Undefined, text

_PROCESSORS = {PE.Header.MACHINE_TYPES.AMD64: "x64", PE.Header.MACHINE_TYPES.ARM64: "arm64"}
_PYTHON = re.compile(r"python\d+t?\.dll", re.IGNORECASE)
_TORCH = re.compile(r"(c10|torch)\w*\.dll", re.IGNORECASE)

lief.logging.disable()  # what is wrong is said by who reads


def read(data: bytes) -> Binary:
    """The library in these bytes; ValueError says why they are none, in one line."""
    library = PE.parse(data) if data.startswith(b"MZ") else None
    if library is None:
        raise ValueError("not a PE file")
    if not library.header.has_characteristic(PE.Header.CHARACTERISTICS.DLL):
        raise ValueError("not a shared library")
    end = max((section.pointerto_raw_data + section.sizeof_raw_data for section in library.sections), default=0)
    if end > len(data) or not end:
        raise ValueError(f"damaged: {len(data)} bytes of at least {end}")
    wanted = [(text(it.name), text(entry.name)) for it in library.imports for entry in it.entries]
    wanted += [(text(it.name), text(entry.name)) for it in library.delay_imports for entry in it.entries]
    exported = library.get_export()
    return Binary(
        processor=_PROCESSORS.get(library.header.machine, str(library.header.machine)),
        needed=tuple(dict.fromkeys(file for file, _ in wanted)),
        search_paths=(),
        undefined=tuple(Undefined(name, _owner(file), library=file) for file, name in wanted),
        exported=tuple(text(entry.name) for entry in exported.entries) if exported else (),
    )


def _owner(library: str) -> Owner:
    """A DLL binds each symbol to a file."""
    if _PYTHON.fullmatch(library):
        return "python"
    return "torch" if _TORCH.fullmatch(library) else "system"
