"""Reads a library for macOS, from its bytes: nothing of it is loaded."""

from __future__ import annotations

from pathlib import Path

import lief
from lief import MachO

from tools.audit.binary import Binary, Owner, Undefined, of_python, text

# Of the linker: where the image begins, which zig's exports, and what binds functions at their first call.
_LINKER = ("_mh_dylib_header", "__dso_handle", "dyld_stub_binder")
_PROCESSORS = {MachO.Header.CPU_TYPE.ARM64: "arm64", MachO.Header.CPU_TYPE.X86_64: "x86_64"}

lief.logging.disable()  # what is wrong is said by who reads


def read(source: bytes | Path) -> Binary:
    """The library in these bytes or this file; ValueError says why it is none, in one line."""
    config = MachO.ParserConfig()
    config.parse_dyld_rebases = False  # there are millions of them in torch, and they name nobody
    found = MachO.parse(source if isinstance(source, bytes) else str(source), config)
    if found is None or found.size == 0:
        raise ValueError("not a Mach-O file")
    if found.size > 1:
        raise ValueError("a Mach-O file for several processors")
    library = found.at(0)
    if library is None or library.header.file_type not in (MachO.Header.FILE_TYPE.DYLIB, MachO.Header.FILE_TYPE.BUNDLE):
        raise ValueError("not a shared library")
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    end = max((segment.file_offset + segment.file_size for segment in library.segments), default=0)
    if end > size or not end:
        raise ValueError(f"damaged: {size} bytes of at least {end}")
    return _read(library)


def _read(library: MachO.Binary) -> Binary:
    version = library.build_version.minos if library.build_version else []
    return Binary(
        processor=_PROCESSORS.get(library.header.cpu_type, str(library.header.cpu_type)),
        needed=tuple(it.name for it in library.libraries if it.command != MachO.LoadCommand.TYPE.ID_DYLIB),
        search_paths=tuple(f"RPATH {it.path}" for it in library.rpaths),
        undefined=_undefined(library),
        exported=tuple(name for it in library.exported_symbols if (name := _c(it.name)) not in _LINKER),
        macos=tuple(version[:2]),
        signed=library.code_signature is not None,
    )


def _undefined(library: MachO.Binary) -> tuple[Undefined, ...]:
    """What is imported, with the library that each is bound to. A second binding of weak symbols, to whichever library
    has it first, names none."""
    bound: dict[str, str] = {}
    strong = set()
    for binding in library.bindings:
        if binding.symbol is None:
            continue
        name = text(binding.symbol.name)
        bound[name] = bound.get(name, "") or (binding.library.name if binding.library else "")
        if not binding.weak_import:
            strong.add(name)
    names = [text(symbol.name) for symbol in library.imported_symbols]
    return tuple(
        Undefined(_c(it), _owner(_c(it), bound.get(it, "")), it not in strong, it in bound, bound.get(it, ""))
        for it in names
        if _c(it) not in _LINKER
    )


def _owner(name: str, library: str) -> Owner:
    if library.startswith("/"):
        return "system"
    return "python" if not library and of_python(name) else "torch"


def _c(name: str | bytes) -> str:
    """The name as the compiler spells it: Mach-O puts an underscore before each."""
    return text(name).removeprefix("_")
