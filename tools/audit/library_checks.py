"""Checks of each library on its own: what it loads, exports and asks of glibc, CPython and the build machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abi3info import DATAS, FUNCTIONS  # type: ignore[import-untyped]
from packaging.metadata import parse_email
from packaging.specifiers import SpecifierSet

from tools import matrix
from tools.audit.archive_checks import GLIBC
from tools.audit.elf import Elf
from tools.audit.finding import Finding
from tools.audit.wheel import Library, Wheel, glibc_of

LIBRARY_BYTES = 65536
# What every Linux with a C++ program has.
_SYSTEM = re.compile(r"lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)")
# The ceilings of manylinux_2_28 (auditwheel's policy of that name), which are GCC 7's.
CEILINGS = {"GLIBC": GLIBC, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# Two folders and a file name, not in the middle of a longer word: code has short accidents like "/vMf".
_ABSOLUTE = re.compile(rb"(?<![\w./>-])/(?:[\w.+@~-]{2,}/)+[\w.+@~-]{2,}")


def _elves(wheel: Wheel) -> Iterator[tuple[Library, Elf]]:
    return ((library, library.elf) for library in wheel.libraries if library.elf is not None)


def readable(wheel: Wheel) -> Iterator[Finding]:
    """Every library is a whole shared library for the processor of the tag. The other checks look at those that are."""
    processor = wheel.platform.partition("-")[2]
    for library in wheel.libraries:
        if library.problem:
            yield Finding(library.member, library.problem)
        elif library.elf and library.elf.processor != processor:
            yield Finding(library.member, f"is for {library.elf.processor}, the wheel for {processor}")
    if wheel.libraries and not any(library.elf or library.problem for library in wheel.libraries):
        yield Finding("", "what is inside libraries other than Linux's is not looked at", note=True)


def library_size(wheel: Wheel) -> Iterator[Finding]:
    """64 KB at most."""
    for library in wheel.libraries:
        size = len(library.data)
        if size > LIBRARY_BYTES:
            yield Finding(library.member, f"{size} bytes, {size - LIBRARY_BYTES} more than {LIBRARY_BYTES}")


def needed(wheel: Wheel) -> Iterator[Finding]:
    """NEEDED holds the libraries of torch that variants.toml links to the backend, and the system's."""
    for library, elf in _elves(wheel):
        backend = matrix.read().backend(library.row, library.backend)
        torch = {f"lib{name}.so" for name in backend.links} if backend else set()
        for name in elf.needed:
            if name not in torch and not _SYSTEM.fullmatch(name):
                allowed = ", ".join(sorted(torch)) or "none of torch's"
                yield Finding(library.member, f"needs {name}; {library.backend} may need {allowed} and the system's")


def search_path(wheel: Wheel) -> Iterator[Finding]:
    """No RPATH and no RUNPATH: torch has its libraries loaded by then."""
    for library, elf in _elves(wheel):
        for path in elf.search_paths:
            yield Finding(library.member, f"has {path}")


def exports(wheel: Wheel) -> Iterator[Finding]:
    """Only dlx_torch_* is exported, and what the loader looks for is."""
    for library, elf in _elves(wheel):
        table = "dlx_torch_overlay" if library.row == matrix.OVERLAY else "dlx_torch_exchange_api"
        for name in elf.exported:
            if not name.startswith("dlx_torch_"):
                yield Finding(library.member, f"exports {name}")
        for name in ("dlx_torch_build_info", table):
            if name not in elf.exported:
                yield Finding(library.member, f"does not export {name}")


def ceilings(wheel: Wheel) -> Iterator[Finding]:
    """No newer symbol version than manylinux_2_28 has, and no newer glibc than the tag promises."""
    promised = [glibc for platform in wheel.platforms if (glibc := glibc_of(platform))]
    limits = {**CEILINGS, "GLIBC": min([GLIBC, *promised])}
    for library, elf in _elves(wheel):
        for file, node in sorted(set(elf.versions)):
            name, _, number = node.partition("_")
            if name not in limits or not re.fullmatch(r"\d+(\.\d+)*", number):
                yield Finding(library.member, f"wants {node} of {file}, of which no ceiling is known")
            elif (version := tuple(map(int, number.split(".")))) > limits[name]:
                users = [symbol.name for symbol in elf.undefined if symbol.node == node]
                ceiling = ".".join(map(str, limits[name]))
                yield Finding(
                    library.member, f"{', '.join(users[:3])}: {name} {'.'.join(map(str, version))}, above {ceiling}"
                )


def stable_abi(wheel: Wheel) -> Iterator[Finding]:
    """Every symbol of CPython is in its stable ABI since the oldest CPython that METADATA admits.

    The list is CPython's own, as abi3info carries it: what we declare ourselves could be wrong in the same way here.
    """
    oldest = _oldest_python(wheel)
    added = {symbol.linux: entry.added for table in (FUNCTIONS, DATAS) for symbol, entry in table.items()}
    for library, elf in _elves(wheel):
        for name in (symbol.name for symbol in elf.undefined if symbol.of_python):
            if name not in added:
                yield Finding(library.member, f"{name} is not in CPython's stable ABI")
            elif (added[name].major, added[name].minor) > oldest:
                yield Finding(library.member, f"{name} is in the stable ABI from {added[name]} on, {oldest} is served")


def _oldest_python(wheel: Wheel) -> tuple[int, int]:
    metadata, _ = parse_email(wheel.members.get(f"{wheel.dist_info}/METADATA", b""))
    floors = [spec.version for spec in SpecifierSet(metadata.get("requires_python", "")) if spec.operator == ">="]
    major, minor = floors[0].split(".")[:2] if floors else ("3", "2")  # unlimited: the first stable ABI
    return int(major), int(minor)


def unused_symbols(wheel: Wheel) -> Iterator[Finding]:
    """No undefined symbol that nothing refers to. A linker adds such where a link stub has several symbols at one
    address, which it takes for names of the same thing: kilobytes of them, some of a C++ ABI that the torch at hand is
    not of."""
    for library, elf in _elves(wheel):
        unused = [symbol.name for symbol in elf.undefined if not symbol.used]
        if unused:
            size = sum(len(name) + 1 for name in unused)
            text = f"{len(unused)} undefined symbols that nothing refers to, {size} bytes of names: {unused[0]}"
            yield Finding(library.member, text)


def build_paths(wheel: Wheel) -> Iterator[Finding]:
    """No absolute path: it would be one of the build machine's, tells about it, and makes each build another."""
    for library in wheel.libraries:
        found = sorted({match.decode() for match in _ABSOLUTE.findall(library.data)})
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            yield Finding(library.member, f"{found[0]}{more}")
