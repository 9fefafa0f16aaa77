"""Checks of each library on its own: what it loads, exports and asks of glibc, CPython and the build machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abi3info import DATAS, FUNCTIONS  # type: ignore[import-untyped]
from packaging.metadata import parse_email
from packaging.specifiers import SpecifierSet

from tools import matrix
from tools.audit.archive_checks import GLIBC
from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, glibc_of

# The ceilings of manylinux_2_28 (auditwheel's policy of that name), which are GCC 7's.
CEILINGS = {"GLIBC": GLIBC, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# Two folders and a file name, not in the middle of a longer word: code has short accidents like "/vMf".
_ABSOLUTE = re.compile(rb"(?<![\w./>-])/(?:[\w.+@~-]{2,}/)+[\w.+@~-]{2,}|\b[A-Z]:\\(?:[\w .+@~-]+\\)+[\w .+@~-]{2,}")


def readable(wheel: Wheel) -> Iterator[Finding]:
    """Every library is a whole shared library for the processor of the tag. The other checks look at those that are."""
    processor = wheel.platform.partition("-")[2]
    for library in wheel.libraries:
        if library.problem:
            yield Finding(library.member, library.problem)
        elif library.binary and library.binary.processor != processor:
            yield Finding(library.member, f"is for {library.binary.processor}, the wheel for {processor}")


def library_size(wheel: Wheel) -> Iterator[Finding]:
    """64 KB at most, and more where each part of a library is filled up to the end of a page."""
    limit = wheel.system.library_bytes
    for library in wheel.libraries:
        size = len(library.data)
        if size > limit:
            yield Finding(library.member, f"{size} bytes, {size - limit} more than {limit}")


def needed(wheel: Wheel) -> Iterator[Finding]:
    """NEEDED holds the libraries of torch that variants.toml links to the backend, and the system's."""
    for library, binary in wheel.binaries:
        backend = matrix.read().backend(library.row, library.backend)
        torch = {wheel.system.torch_file(name) for name in backend.links} if backend else set()
        for name in binary.needed:
            if name not in torch and not wheel.system.has(name):
                allowed = ", ".join(sorted(torch)) or "none of torch's"
                yield Finding(library.member, f"needs {name}; {library.backend} may need {allowed} and the system's")


def search_path(wheel: Wheel) -> Iterator[Finding]:
    """No RPATH and no RUNPATH: torch has its libraries loaded by then."""
    for library, binary in wheel.binaries:
        for path in binary.search_paths:
            yield Finding(library.member, f"has {path}")


def exports(wheel: Wheel) -> Iterator[Finding]:
    """Only dlx_torch_* is exported, and what the loader looks for is."""
    for library, binary in wheel.binaries:
        table = "dlx_torch_overlay" if library.row == matrix.OVERLAY else "dlx_torch_exchange_api"
        for name in binary.exported:
            if not name.startswith("dlx_torch_"):
                yield Finding(library.member, f"exports {name}")
        for name in ("dlx_torch_build_info", table):
            if name not in binary.exported:
                yield Finding(library.member, f"does not export {name}")


def ceilings(wheel: Wheel) -> Iterator[Finding]:
    """No newer symbol version than manylinux_2_28 has, and no newer glibc than the tag promises."""
    promised = [glibc for platform in wheel.platforms if (glibc := glibc_of(platform))]
    limits = {**CEILINGS, "GLIBC": min([GLIBC, *promised])}
    for library, binary in wheel.binaries:
        for file, node in sorted(set(binary.versions)):
            name, _, number = node.partition("_")
            if name not in limits or not re.fullmatch(r"\d+(\.\d+)*", number):
                yield Finding(library.member, f"wants {node} of {file}, of which no ceiling is known")
            elif (version := tuple(map(int, number.split(".")))) > limits[name]:
                users = [symbol.name for symbol in binary.undefined if symbol.node == node]
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
    for library, binary in wheel.binaries:
        for name in (symbol.name for symbol in binary.of("python")):
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
    for library, binary in wheel.binaries:
        unused = [symbol.name for symbol in binary.undefined if not symbol.used]
        if unused:
            size = sum(len(name) + 1 for name in unused)
            text = f"{len(unused)} undefined symbols that nothing refers to, {size} bytes of names: {unused[0]}"
            yield Finding(library.member, text)


def build_paths(wheel: Wheel) -> Iterator[Finding]:
    """No absolute path: it would be one of the build machine's, tells about it, and makes each build another."""
    for library, binary in wheel.binaries:
        paths = {match.decode() for match in _ABSOLUTE.findall(library.data)}
        found = sorted(paths.difference(binary.needed, [wheel.system.loader]))
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            yield Finding(library.member, f"{found[0]}{more}")
