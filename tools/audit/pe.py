"""Read a library for Windows from its bytes, without loading it."""

from __future__ import annotations

import re

import lief
from lief import PE

from tools.audit.binary import Binary, Owner, Undefined, decoded

_PROCESSORS = {PE.Header.MACHINE_TYPES.AMD64: "x64", PE.Header.MACHINE_TYPES.ARM64: "arm64"}
_PYTHON = re.compile(r"python\d+t?\.dll", re.IGNORECASE)
_TORCH = re.compile(r"(c10|torch)\w*\.dll", re.IGNORECASE)

lief.logging.disable()  # the errors raised below say what is wrong


def read(data: bytes) -> Binary:
    """The library in these bytes. ValueError, in one line, where they are not a library for Windows."""
    library = PE.parse(data) if data.startswith(b"MZ") else None
    if library is None:
        raise ValueError("not a PE file")
    if not library.header.has_characteristic(PE.Header.CHARACTERISTICS.DLL):
        raise ValueError("not a shared library")
    end = max((section.pointerto_raw_data + section.sizeof_raw_data for section in library.sections), default=0)
    if end > len(data) or not end:
        raise ValueError(f"damaged: has {len(data)} bytes, and its parts end at byte {end}")
    imported = [(decoded(dll.name), decoded(entry.name)) for dll in library.imports for entry in dll.entries]
    imported += [(decoded(dll.name), decoded(entry.name)) for dll in library.delay_imports for entry in dll.entries]
    exported = library.get_export()
    return Binary(
        processor=_PROCESSORS.get(library.header.machine, str(library.header.machine)),
        needed=tuple(dict.fromkeys(file for file, _ in imported)),
        search_paths=(),
        undefined=tuple(Undefined(name, _owner(file), library=file) for file, name in imported),
        exported=tuple(decoded(entry.name) for entry in exported.entries) if exported else (),
    )


def _owner(library: str) -> Owner:
    """Who has to define a symbol: in a PE file each symbol is bound to one DLL, and its name tells."""
    if _PYTHON.fullmatch(library):
        return "python"
    return "torch" if _TORCH.fullmatch(library) else "system"
