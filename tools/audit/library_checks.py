"""Checks of each library by itself: its size, what it loads and exports, what it needs of glibc and CPython, and
whether it contains paths of the build machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abi3info import DATAS, FUNCTIONS  # type: ignore[import-untyped]
from packaging.metadata import parse_email
from packaging.specifiers import SpecifierSet

from tools import matrix
from tools.audit.archive_checks import MAX_GLIBC
from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, glibc_of

# The newest symbol versions that manylinux_2_28 allows, from auditwheel's policy of that name: those of GCC 7.
MAX_VERSIONS = {"GLIBC": MAX_GLIBC, "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# At least two folders and a file name, not in the middle of a longer word: machine code contains short byte sequences
# such as "/vMf" that only look like a path.
_ABSOLUTE = re.compile(rb"(?<![\w./>-])/(?:[\w.+@~-]{2,}/)+[\w.+@~-]{2,}|\b[A-Z]:\\(?:[\w .+@~-]+\\)+[\w .+@~-]{2,}")

_LOCKS = (
    "__cxa_guard_acquire",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_once",
    "pthread_cond_wait",
    "sem_wait",
)


def readable(wheel: Wheel) -> Iterator[Finding]:
    """Every library can be read, and is for the processor of the tag. The other checks skip a library that cannot."""
    processor = wheel.platform.partition("-")[2]
    for library in wheel.libraries:
        if library.problem:
            yield Finding(library.member, library.problem)
        elif library.binary and library.binary.processor != processor:
            yield Finding(library.member, f"is for {library.binary.processor}; the wheel's tag is for {processor}")


def library_size(wheel: Wheel) -> Iterator[Finding]:
    """A library has at most 64 KB; more where pages are larger, because its parts fill whole pages."""
    limit = wheel.system.max_library_bytes
    for library in wheel.libraries:
        size = len(library.data)
        if size > limit:
            yield Finding(library.member, f"has {size} bytes, {size - limit} more than {limit}")


def needed(wheel: Wheel) -> Iterator[Finding]:
    """A library needs only those libraries of torch that variants.toml links to its backend, and the system's."""
    for library, binary in wheel.binaries:
        backend = matrix.read().backend(library.row, library.backend)
        torch = {wheel.system.torch_file(name) for name in backend.links} if backend else set()
        for name in binary.needed:
            if name not in torch and not wheel.system.always_has(name):
                allowed = ", ".join(sorted(torch)) or "no library of torch"
                text = f"needs {name}; the backend {library.backend} may need {allowed}, and the system's libraries"
                yield Finding(library.member, text)


def search_path(wheel: Wheel) -> Iterator[Finding]:
    """No RPATH and no RUNPATH: torch has its libraries loaded by then."""
    for library, binary in wheel.binaries:
        for path in binary.search_paths:
            yield Finding(library.member, f"has the search path {path}; it must have none")


def exports(wheel: Wheel) -> Iterator[Finding]:
    """A library exports only dlx_torch_*, and every symbol that our loader looks up."""
    for library, binary in wheel.binaries:
        table = "dlx_torch_overlay" if library.row == matrix.OVERLAY else "dlx_torch_exchange_api"
        for name in binary.exported:
            if not name.startswith("dlx_torch_"):
                yield Finding(library.member, f"exports {name}; only dlx_torch_* is allowed")
        for name in ("dlx_torch_build_info", table):
            if name not in binary.exported:
                yield Finding(library.member, f"does not export {name}, which the loader looks up")


def symbol_versions(wheel: Wheel) -> Iterator[Finding]:
    """A library needs no newer symbol version than manylinux_2_28 allows, and no newer glibc than the tag says."""
    tagged = [glibc for platform in wheel.platforms if (glibc := glibc_of(platform))]
    limits = {**MAX_VERSIONS, "GLIBC": min([MAX_GLIBC, *tagged])}
    for library, binary in wheel.binaries:
        for file, node in sorted(set(binary.versions)):
            name, _, number = node.partition("_")
            if name not in limits or not re.fullmatch(r"\d+(\.\d+)*", number):
                yield Finding(library.member, f"needs the version {node} of {file}, for which no limit is known")
            elif (version := tuple(map(int, number.split(".")))) > limits[name]:
                users = [symbol.name for symbol in binary.undefined if symbol.node == node]
                limit = ".".join(map(str, limits[name]))
                needs = f"{name} {'.'.join(map(str, version))}"
                text = f"{', '.join(users[:3])} needs {needs}; at most {limit} is allowed"
                yield Finding(library.member, text)


def stable_abi(wheel: Wheel) -> Iterator[Finding]:
    """Every symbol of CPython that a library uses is in the stable ABI of the oldest CPython that METADATA allows.

    The list is CPython's own, from the package abi3info. A list written by us could repeat a mistake of our code.
    """
    oldest = _oldest_python(wheel)
    python = ".".join(map(str, oldest))
    added = {symbol.linux: entry.added for table in (FUNCTIONS, DATAS) for symbol, entry in table.items()}
    for library, binary in wheel.binaries:
        for name in (symbol.name for symbol in binary.undefined_of("python")):
            if name not in added:
                yield Finding(library.member, f"{name} is not in CPython's stable ABI")
            elif (added[name].major, added[name].minor) > oldest:
                text = f"{name} is in the stable ABI from CPython {added[name]} on; the wheel is for {python} too"
                yield Finding(library.member, text)


def _oldest_python(wheel: Wheel) -> tuple[int, int]:
    metadata, _ = parse_email(wheel.members.get(f"{wheel.dist_info}/METADATA", b""))
    floors = [spec.version for spec in SpecifierSet(metadata.get("requires_python", "")) if spec.operator == ">="]
    major, minor = floors[0].split(".")[:2] if floors else ("3", "2")  # no limit: the CPython with the first stable ABI
    return int(major), int(minor)


def locks(wheel: Wheel) -> Iterator[Finding]:
    """A library takes no lock: not a mutex, and not the hidden one around the first use of a function's static. torch
    and CPython call back, take the GIL and fork; a lock of ours that is held across such a call can wait for itself."""
    for library, binary in wheel.binaries:
        for symbol in binary.undefined:
            if symbol.name in _LOCKS:
                yield Finding(library.member, f"uses {symbol.name}, and no lock is allowed in a library")


def unused_symbols(wheel: Wheel) -> Iterator[Finding]:
    """A library has no undefined symbol that nothing in it refers to. A linker adds such symbols where a link stub has
    several symbols at one address, because it takes them for aliases. They are kilobytes, and some belong to a C++ ABI
    that the user's torch does not have."""
    for library, binary in wheel.binaries:
        unused = [symbol.name for symbol in binary.undefined if not symbol.used]
        if unused:
            size = sum(len(name) + 1 for name in unused)
            text = f"{len(unused)} undefined symbols that nothing refers to, {size} bytes of names: {unused[0]}"
            yield Finding(library.member, text)


def relro(wheel: Wheel) -> Iterator[Finding]:
    """The addresses of functions that a library calls cannot be overwritten: the loader fills in all of them at once
    and then makes their table read-only. Otherwise an error elsewhere in the process can lead a call astray."""
    for library, binary in wheel.binaries:
        missing = [flag for flag, is_there in (("relro", binary.relro), ("now", binary.binds_now)) if not is_there]
        if missing:
            flags = " and ".join(f"-z {flag}" for flag in missing)
            yield Finding(library.member, f"was linked without {flags}; the addresses that it calls can be overwritten")


def build_paths(wheel: Wheel) -> Iterator[Finding]:
    """A library contains no absolute path. Such a path belongs to the build machine: it tells strangers about that
    machine, and it makes every build different."""
    for library, binary in wheel.binaries:
        paths = {match.decode() for match in _ABSOLUTE.findall(library.data)}
        foreign = sorted(paths.difference(binary.needed, [wheel.system.loader]))
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            yield Finding(library.member, f"contains the path {foreign[0]}{more}; it must contain no absolute path")
