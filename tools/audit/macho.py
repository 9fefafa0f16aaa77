"""Read a library for macOS from its bytes, without loading it."""

from __future__ import annotations

from pathlib import Path

import lief
from lief import MachO

from tools.audit.binary import Binary, Owner, Undefined, decoded, is_python_symbol

# Symbols that the linker adds: the start of the image (zig's linker exports it), and the function that binds others at
# their first call.
_LINKER_SYMBOLS = ("_mh_dylib_header", "__dso_handle", "dyld_stub_binder")
_PROCESSORS = {MachO.Header.CPU_TYPE.ARM64: "arm64", MachO.Header.CPU_TYPE.X86_64: "x86_64"}

lief.logging.disable()  # the errors raised below say what is wrong


def read(source: bytes | Path) -> Binary:
    """The library in these bytes or this file. ValueError, in one line, where it is not a library for macOS."""
    config = MachO.ParserConfig()
    config.parse_dyld_rebases = False  # torch has millions of them, and they name no symbol
    file = MachO.parse(source if isinstance(source, bytes) else str(source), config)
    if file is None or file.size == 0:
        raise ValueError("not a Mach-O file")
    if file.size > 1:
        raise ValueError("a Mach-O file for several processors; it must be for one")
    library = file.at(0)
    if library is None or library.header.file_type not in (MachO.Header.FILE_TYPE.DYLIB, MachO.Header.FILE_TYPE.BUNDLE):
        raise ValueError("not a shared library")
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    end = max((segment.file_offset + segment.file_size for segment in library.segments), default=0)
    if end > size or not end:
        raise ValueError(f"damaged: has {size} bytes, and its parts end at byte {end}")
    return _read(library)


def _read(library: MachO.Binary) -> Binary:
    version = library.build_version.minos if library.build_version else []
    return Binary(
        processor=_PROCESSORS.get(library.header.cpu_type, str(library.header.cpu_type)),
        needed=tuple(other.name for other in library.libraries if other.command != MachO.LoadCommand.TYPE.ID_DYLIB),
        search_paths=tuple(f"RPATH {rpath.path}" for rpath in library.rpaths),
        undefined=_undefined(library),
        exported=tuple(
            name
            for symbol in library.exported_symbols
            if (name := _without_underscore(symbol.name)) not in _LINKER_SYMBOLS
        ),
        macos=tuple(version[:2]),
        signed=library.code_signature is not None,
    )


def _undefined(library: MachO.Binary) -> tuple[Undefined, ...]:
    """The undefined symbols, each with the library that it is bound to. A weak symbol may have a second binding, which
    names no library: the loader takes the first that defines it."""
    bound: dict[str, str] = {}
    strong = set()
    for binding in library.bindings:
        if binding.symbol is None:
            continue
        name = decoded(binding.symbol.name)
        bound[name] = bound.get(name, "") or (binding.library.name if binding.library else "")
        if not binding.weak_import:
            strong.add(name)
    names = [decoded(symbol.name) for symbol in library.imported_symbols]
    return tuple(
        Undefined(
            _without_underscore(name),
            _owner(_without_underscore(name), bound.get(name, "")),
            name not in strong,
            name in bound,
            bound.get(name, ""),
        )
        for name in names
        if _without_underscore(name) not in _LINKER_SYMBOLS
    )


def _owner(name: str, library: str) -> Owner:
    if library.startswith("/"):
        return "system"
    return "python" if not library and is_python_symbol(name) else "torch"


def _without_underscore(name: str | bytes) -> str:
    """The name as the compiler spells it: in a Mach-O file, each name begins with one more underscore."""
    return decoded(name).removeprefix("_")
