"""Read a library for Linux from its bytes, without loading it."""

from __future__ import annotations

import io
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from tools.audit.binary import Binary, Owner, Undefined, is_python_symbol

# From the compiler's start files. They are weak: no library has to define them.
_TOOLCHAIN = ("__gmon_start__", "_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable", "__cxa_finalize")
# The tags that say it, with the bit of each: -z now writes one or two of them.
_NOW = {"DT_BIND_NOW": ~0, "DT_FLAGS": 0x8, "DT_FLAGS_1": 0x1}
_PROCESSORS = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


def read(data: bytes) -> Binary:
    """The library in these bytes. ValueError, in one line, where they are not a library for Linux."""
    if not data.startswith(b"\x7fELF"):
        raise ValueError("not an ELF file")
    try:
        return _read(ELFFile(io.BytesIO(data)))
    except Exception as error:  # pyelftools raises many kinds of errors for a damaged file
        raise ValueError(f"damaged: {type(error).__name__} {error}".splitlines()[0]) from None


def _read(elf: Any) -> Binary:
    dynamic, symbols = elf.get_section_by_name(".dynamic"), elf.get_section_by_name(".dynsym")
    if elf["e_type"] != "ET_DYN" or dynamic is None or symbols is None:
        raise ValueError("not a shared library")
    version_needs, nodes = elf.get_section_by_name(".gnu.version_r"), elf.get_section_by_name(".gnu.version")
    versions = {
        node["vna_other"]: (library.name, node.name)
        for library, of_library in (version_needs.iter_versions() if version_needs else ())
        for node in of_library
    }
    used = {
        relocation["r_info_sym"]
        for section in elf.iter_sections()
        if isinstance(section, RelocationSection)
        for relocation in section.iter_relocations()
    }
    undefined, exported = [], []
    for index, symbol in enumerate(symbols.iter_symbols()):
        if not symbol.name or symbol["st_info"]["bind"] == "STB_LOCAL":
            continue
        if symbol["st_shndx"] == "SHN_UNDEF":
            version = versions.get(nodes.get_symbol(index)["ndx"], ("", "")) if nodes else ("", "")
            if symbol.name not in _TOOLCHAIN:
                weak = symbol["st_info"]["bind"] == "STB_WEAK"
                undefined.append(Undefined(symbol.name, _owner(symbol.name, version[1]), weak, index in used, *version))
        elif symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED"):
            exported.append(symbol.name)
    return Binary(
        processor=_PROCESSORS.get(elf["e_machine"], str(elf["e_machine"])),
        needed=tuple(tag.needed for tag in dynamic.iter_tags("DT_NEEDED")),
        search_paths=tuple(
            [f"RPATH {tag.rpath}" for tag in dynamic.iter_tags("DT_RPATH")]
            + [f"RUNPATH {tag.runpath}" for tag in dynamic.iter_tags("DT_RUNPATH")]
        ),
        undefined=tuple(undefined),
        exported=tuple(exported),
        versions=tuple(versions.values()),
        relro=any(segment["p_type"] == "PT_GNU_RELRO" for segment in elf.iter_segments()),
        binds_now=any(tag["d_val"] & _NOW.get(tag["d_tag"], 0) for tag in dynamic.iter_tags()),
    )


def _owner(name: str, node: str) -> Owner:
    """Who has to define an undefined symbol. Among these symbols only the system's have a version node."""
    if node:
        return "system"
    return "python" if is_python_symbol(name) else "torch"
