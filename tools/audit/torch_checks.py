"""Checks that a row's libraries use only symbols that the row's torch has, in the C++ ABI of the row."""

from __future__ import annotations

from collections.abc import Iterator

from tools import matrix
from tools.audit import names
from tools.audit.binary import Undefined
from tools.audit.finding import Finding
from tools.audit.platforms import Platform
from tools.audit.sdk_symbols import Exports, Sdks
from tools.audit.wheel import Wheel

_HIP = "c10_hip"


def torch_symbols(wheel: Wheel, sdks: Sdks) -> Iterator[Finding]:
    """Every undefined symbol that is neither the system's nor CPython's is exported by a library of the row's torch
    that the backend links. The overlay may use no symbol of torch. Where a symbol is bound to one library, that library
    has to export it.

    The lists of symbols come from torch's wheels. For torch 2.4 to 2.6 an index has wheels of one C++ ABI only: on PyPI
    those for x86_64 have the older ABI. So a row of the other ABI is compared in two steps. A symbol that mentions no
    std::string must be in the list unchanged. One that does must be in the list when both are spelled without the ABI.

    No wheel in the index has libc10_hip. Its demangled names are compared with those of libc10_cuda, from which hipify
    made it. They must be weak, because hipify has given each of them one of two names, depending on the release.
    """
    declared, processor = matrix.read(), wheel.platform.partition("-")[2]
    notes: set[str] = set()
    for library, binary in wheel.binaries:
        backend = declared.backend(library.row, library.backend)
        if backend is None:
            continue
        release = declared.rows[library.row].sdk if library.row in declared.rows else ""
        linked: dict[str, Exports] = {}
        for link in backend.links:
            exports = sdks.exports(release, processor, "c10_cuda" if link == _HIP else link)
            if exports is None:
                file = wheel.system.torch_file(link)
                text = f"cannot be checked: no wheel of torch {release} has {file} to compare its symbols with"
                yield Finding(library.member, text)
                continue
            linked[link] = exports
            if exports.other_processor:
                notes.add(
                    f"torch {release}: symbols of lib{link}.so are compared with those for {exports.other_processor}"
                )
        for symbol in binary.undefined_of("torch"):
            if problem := _problem(symbol, linked, wheel.system):
                where = f"torch {release}" if release else "any torch, and the overlay may use no symbol of torch"
                yield Finding(library.member, f"{names.demangled(symbol.name)} {problem} {where}")
    for text in sorted(notes):
        yield Finding("", text, note=True)


def _problem(symbol: Undefined, linked: dict[str, Exports], system: Platform) -> str:
    """What is wrong with a symbol, or "". `linked`: the exports of each library that the backend links."""
    if system.binds and not symbol.library:
        return "is bound to no library of"
    linked = {link: exports for link, exports in linked.items() if symbol.library in ("", system.torch_file(link))}
    if any(symbol.name in exports.symbols for link, exports in linked.items() if link != _HIP):
        return ""
    if names.is_cxx11_only(symbol.name) or names.is_cxx98_only(symbol.name):
        name = names.without_abi(symbol.name)
        if any(name in exports.without_abi for link, exports in linked.items() if link != _HIP):
            return ""
    if _HIP in linked and names.cuda_name_of(names.demangled(symbol.name)) in linked[_HIP].demangled:
        return "" if symbol.weak else "is not weak, and may be missing in"
    return "is not in"


def system_symbols(wheel: Wheel, sdks: Sdks) -> Iterator[Finding]:
    """Every symbol of macOS that a library uses is also used by the row's torch. Then every macOS that loads that torch
    has it, even if the compiler's headers are newer than that macOS."""
    rows = matrix.read().rows
    for library, binary in wheel.binaries:
        if library.row not in rows:
            continue
        release, processor = rows[library.row].sdk, wheel.platform.partition("-")[2]
        for symbol in binary.undefined_of("system"):
            name = wheel.system.system_lists.get(symbol.library)
            exports = sdks.exports(release, processor, name) if name else None
            if exports and symbol.name not in exports.symbols:
                text = f"uses {names.demangled(symbol.name)} of {symbol.library}, which torch {release} does not use"
                yield Finding(library.member, text)


def cxx_abi(wheel: Wheel) -> Iterator[Finding]:
    """No undefined symbol, of torch or of libstdc++, belongs to the C++ ABI that the row is not for."""
    rows = matrix.read().rows
    for library, binary in wheel.binaries:
        if library.row not in rows:
            continue
        cxx11_abi = rows[library.row].cxx11_abi
        belongs_to_other = names.is_cxx98_only if cxx11_abi else names.is_cxx11_only
        wrong = [symbol for symbol in binary.undefined if belongs_to_other(symbol.name)]
        if wrong:
            weak = sum(symbol.weak for symbol in wrong)
            example = names.demangled(min(wrong, key=lambda symbol: symbol.weak).name)
            abis = "the older C++ ABI in a row of the newer" if cxx11_abi else "the newer C++ ABI in a row of the older"
            yield Finding(library.member, f"uses {len(wrong)} symbols of {abis}, {weak} of them weak: {example}")
