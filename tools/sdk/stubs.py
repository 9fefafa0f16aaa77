"""Link stubs of torch's libraries: what a linker has to know of each, and its symbols as text for the audit.

    lib/libc10.so     Linux: a shared object without code (tools/sdk/elf_stub.py)
    lib/libc10.tbd    macOS: install name and symbols as text, Apple's own kind of stub
    lib/c10.lib       Windows: the import library, which torch's wheel has ready
    lib/libc10.symbols   the symbols of each, one a line, as the compiler spells them

For macOS there are also libc++.tbd, libc++.symbols and libSystem.symbols: what torch itself asks of the system's
libraries. That much is there wherever this torch loads; a compiler without Apple's SDK links against it.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tools.audit import macho
from tools.sdk import elf_stub
from tools.settings import ToolError

_ELSEWHERE = ("c10", "torch_cpu", "torch_python")  # there, torch's wheels are builds for the CPU
LIBRARIES = {
    "x86_64": (*_ELSEWHERE, "c10_cuda"),
    "aarch64": (*_ELSEWHERE, "c10_cuda"),
    "arm64": _ELSEWHERE,
    "x64": _ELSEWHERE,
}
_LIBCXX, _LIBSYSTEM = "/usr/lib/libc++.1.dylib", "/usr/lib/libSystem.B.dylib"


def make(archive: zipfile.ZipFile, arch: str, folder: Path) -> None:
    """Write the stubs of a wheel of torch for a processor into `folder`; what an earlier try left whole stays."""
    folder.mkdir(parents=True, exist_ok=True)
    {"arm64": _for_macos, "x64": _for_windows}.get(arch, _for_linux)(archive, LIBRARIES[arch], folder)


def _for_linux(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    for library in libraries:
        member, stub = f"torch/lib/lib{library}.so", folder / f"lib{library}.so"
        if member not in archive.namelist() or stub.exists():
            continue
        with archive.open(member) as packed, tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)  # to its end, where the zip file's checksum is compared
            exports = elf_stub.read(unpacked)
        _list(folder, library, exports.names())
        half = stub.with_suffix(".half")
        elf_stub.write(exports, half)
        half.rename(stub)


def _for_macos(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    asked: dict[str, set[str]] = defaultdict(set)
    for library in libraries:
        member = _member(archive, f"torch/lib/lib{library}.dylib")
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            read = macho.read(Path(archive.extract(member, scratch)))
        tbd(folder, library, f"@rpath/lib{library}.dylib", read.exported)
        for symbol in read.undefined:
            if not symbol.weak:  # torch does without a weak one
                asked[symbol.library].add(symbol.name)
    tbd(folder, "c++", _LIBCXX, asked[_LIBCXX])
    _list(folder, "System", asked[_LIBSYSTEM])


def _for_windows(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    for library in libraries:
        data = archive.read(_member(archive, f"torch/lib/{library}.lib"))
        (folder / f"{library}.lib").write_bytes(data)
        _list(folder, library, import_library(data))


def import_library(data: bytes) -> set[str]:
    """The symbols of an import library, by the index with which it begins: a count and offsets, then the names."""
    if not data.startswith(b"!<arch>\n/"):
        raise ToolError("an import library without an index: wheels of torch have changed")
    size, (count,) = int(data[56:66]), struct.unpack_from(">I", data, 68)
    names = data[72 + 4 * count : 68 + size].split(b"\0")[:count]
    return {name.decode().removeprefix("__imp_") for name in names if not name.startswith((b"__IMPORT", b"\x7f"))}


def _member(archive: zipfile.ZipFile, name: str) -> str:
    if name not in archive.namelist():
        raise ToolError(f"{archive.filename or 'the wheel'} has no {name}: wheels of torch have changed")
    return name


def tbd(folder: Path, library: str, install_name: str, symbols: Iterable[str]) -> None:
    """A text-based stub; in a Mach-O file, C's names begin with an underscore."""
    _list(folder, library, symbols)
    named = ", ".join(f"'_{name}'" for name in sorted(symbols))
    (folder / f"lib{library}.tbd").write_text(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n"
        f"install-name: '{install_name}'\nexports:\n  - targets: [ arm64-macos ]\n    symbols: [ {named} ]\n...\n",
        encoding="utf-8",
    )


def _list(folder: Path, library: str, symbols: Iterable[str]) -> None:
    text = "".join(f"{name}\n" for name in sorted(symbols))
    (folder / f"lib{library}.symbols").write_text(text, encoding="utf-8")
