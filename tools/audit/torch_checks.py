"""Checks that a row's libraries ask torch only for what that row's torch has, in the C++ ABI that the row claims."""

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
    """Every symbol that is neither the system's nor CPython's is exported by a library of the row's torch that the
    backend links.

    The lists are those of torch's wheels, and of torch 2.4 to 2.6 there is one C++ ABI in each index: PyPI's wheels for
    x86_64 have the old one. A row of the other ABI is compared in two steps: a symbol that mentions no std::string has
    to be there as it is; one that does has to be there when both ABIs are spelled alike.

    No wheel with libc10_hip is in the index. Its names are compared, demangled, with libc10_cuda's, from which hipify
    makes it. They have to be weak, since it was hipify's choice which of two names they got.

    The overlay may ask torch for nothing by name. Where a symbol is bound to one library, that one has to have it.
    """
    stated, processor = matrix.read(), wheel.platform.partition("-")[2]
    borrowed: set[str] = set()
    for library, binary in wheel.binaries:
        backend = stated.backend(library.row, library.backend)
        if backend is None:
            continue
        release = stated.rows[library.row].sdk if library.row in stated.rows else ""
        linked: dict[str, Exports] = {}
        for link in backend.links:
            exports = sdks.exports(release, processor, "c10_cuda" if link == _HIP else link)
            if exports is None:
                file = wheel.system.torch_file(link)
                yield Finding(library.member, f"no wheel of torch {release} has {file} to compare with")
                continue
            linked[link] = exports
            if exports.elsewhere:
                borrowed.add(f"torch {release}: lib{link}.so is compared with the one for {exports.elsewhere}")
        for symbol in binary.of("torch"):
            if problem := _missing(symbol, linked, wheel.system):
                where = f"torch {release}" if release else "any torch, and the overlay may ask for none"
                yield Finding(library.member, f"{names.demangled(symbol.name)} {problem} {where}")
    for text in sorted(borrowed):
        yield Finding("", text, note=True)


def _missing(symbol: Undefined, linked: dict[str, Exports], system: Platform) -> str:
    """What is wrong with a symbol, or ""; `linked` has what each library exports."""
    if system.binds and not symbol.library:
        return "is bound to no library of"
    linked = {link: exports for link, exports in linked.items() if symbol.library in ("", system.torch_file(link))}
    if any(symbol.name in exports.symbols for link, exports in linked.items() if link != _HIP):
        return ""
    if names.of_new_abi(symbol.name) or names.of_old_abi(symbol.name):
        spelled = names.without_abi(symbol.name)
        if any(spelled in exports.without_abi for link, exports in linked.items() if link != _HIP):
            return ""
    if _HIP in linked and names.before_hipify(names.demangled(symbol.name)) in linked[_HIP].demangled:
        return "" if symbol.weak else "is not weak, and need not be in"
    return "is not in"


def system_symbols(wheel: Wheel, sdks: Sdks) -> Iterator[Finding]:
    """What a library asks of macOS itself, the row's torch asks of it too: then it is there wherever that torch loads,
    however old the macOS and however new the compiler's headers."""
    rows = matrix.read().rows
    for library, binary in wheel.binaries:
        if library.row not in rows:
            continue
        release, processor = rows[library.row].sdk, wheel.platform.partition("-")[2]
        for symbol in binary.of("system"):
            listed = wheel.system.listed.get(symbol.library)
            exports = sdks.exports(release, processor, listed) if listed else None
            if exports and symbol.name not in exports.symbols:
                text = f"{names.demangled(symbol.name)} of {symbol.library} is not asked for by torch {release}"
                yield Finding(library.member, text)


def cxx_abi(wheel: Wheel) -> Iterator[Finding]:
    """No symbol, of torch's or of libstdc++'s, mentions the std::string of the C++ ABI that the row is not for."""
    rows = matrix.read().rows
    for library, binary in wheel.binaries:
        if library.row not in rows:
            continue
        cxx11_abi = rows[library.row].cxx11_abi
        wrong = names.of_old_abi if cxx11_abi else names.of_new_abi
        other = [symbol for symbol in binary.undefined if wrong(symbol.name)]
        if other:
            weak = sum(symbol.weak for symbol in other)
            shown = names.demangled(min(other, key=lambda symbol: symbol.weak).name)
            text = f"{len(other)} symbols of C++ ABI {int(not cxx11_abi)}, {weak} of them weak"
            text += f", in a row of {int(cxx11_abi)}"
            yield Finding(library.member, f"{text}: {shown}")
