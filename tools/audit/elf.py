"""What one shared library asks of others and offers them, read from its bytes: nothing of it is loaded."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

# Of the compiler's start files: weak, and nobody has to have them.
_TOOLCHAIN = ("__gmon_start__", "_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable", "__cxa_finalize")
_PROCESSORS = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}


@dataclass(frozen=True)
class Undefined:
    """A symbol that a library leaves to others. `library` and `node` name the version wanted ("libc.so.6",
    "GLIBC_2.14"), and are empty where there is none, as for everything of torch and of CPython. `used`: some code or
    data of the library refers to it."""

    name: str
    weak: bool
    used: bool
    library: str = ""
    node: str = ""

    @property
    def of_python(self) -> bool:
        return not self.node and self.name.startswith(("Py", "_Py"))


@dataclass(frozen=True)
class Elf:
    """One library. `versions` are the (library, node) pairs that the loader will insist on."""

    processor: str
    needed: tuple[str, ...]
    search_paths: tuple[str, ...]
    undefined: tuple[Undefined, ...]
    exported: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    @property
    def of_torch(self) -> tuple[Undefined, ...]:
        """What neither a versioned library nor CPython has: torch has to."""
        return tuple(symbol for symbol in self.undefined if not symbol.node and not symbol.of_python)


def read(data: bytes) -> Elf:
    """The library in these bytes; ValueError says why they are none, in one line."""
    if not data.startswith(b"\x7fELF"):
        raise ValueError("not an ELF file")
    try:
        return _read(ELFFile(io.BytesIO(data)))
    except Exception as error:  # a damaged file makes pyelftools raise whatever comes
        raise ValueError(f"damaged: {type(error).__name__} {error}".splitlines()[0]) from None


def _read(elf: Any) -> Elf:
    dynamic, symbols = elf.get_section_by_name(".dynamic"), elf.get_section_by_name(".dynsym")
    if elf["e_type"] != "ET_DYN" or dynamic is None or symbols is None:
        raise ValueError("not a shared library")
    wanted, nodes = elf.get_section_by_name(".gnu.version_r"), elf.get_section_by_name(".gnu.version")
    versions = {
        node["vna_other"]: (library.name, node.name)
        for library, of_library in (wanted.iter_versions() if wanted else ())
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
                undefined.append(Undefined(symbol.name, weak, index in used, *version))
        elif symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED"):
            exported.append(symbol.name)
    return Elf(
        processor=_PROCESSORS.get(elf["e_machine"], str(elf["e_machine"])),
        needed=tuple(tag.needed for tag in dynamic.iter_tags("DT_NEEDED")),
        search_paths=tuple(
            [f"RPATH {tag.rpath}" for tag in dynamic.iter_tags("DT_RPATH")]
            + [f"RUNPATH {tag.runpath}" for tag in dynamic.iter_tags("DT_RUNPATH")]
        ),
        undefined=tuple(undefined),
        exported=tuple(exported),
        versions=tuple(versions.values()),
    )
