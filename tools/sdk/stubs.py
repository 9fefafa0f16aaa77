"""Link stubs of torch's libraries, for the linker, and lists of their symbols, for the audit.

    lib/libc10.so        Linux: a shared object without code (tools/sdk/elf_stub.py)
    lib/libc10.tbd       macOS: install name and symbols as text, Apple's own kind of stub
    lib/c10.lib          Windows: the import library, which torch's wheel contains
    lib/libc10.symbols   the symbols of each library, one a line, as the compiler spells them

For macOS there are also libc++.tbd, libc++.symbols and libSystem.symbols, with the symbols of the system's libraries
that torch itself uses. Every macOS that loads this torch has those symbols. A compiler without Apple's SDK links
against libc++.tbd.
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

_CPU_ONLY = ("c10", "torch_cpu", "torch_python")  # on macOS and Windows, torch's wheels on PyPI are CPU builds
LIBRARIES = {
    "x86_64": (*_CPU_ONLY, "c10_cuda"),
    "aarch64": (*_CPU_ONLY, "c10_cuda"),
    "arm64": _CPU_ONLY,
    "x64": _CPU_ONLY,
}
_LIBCXX, _LIBSYSTEM = "/usr/lib/libc++.1.dylib", "/usr/lib/libSystem.B.dylib"


def write_all(archive: zipfile.ZipFile, arch: str, folder: Path) -> None:
    """Write the stubs of a wheel of torch for a processor into `folder`. Stubs for Linux that an earlier, interrupted
    download has written completely are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    {"arm64": _for_macos, "x64": _for_windows}.get(arch, _for_linux)(archive, LIBRARIES[arch], folder)


def _for_linux(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    for library in libraries:
        member, stub = f"torch/lib/lib{library}.so", folder / f"lib{library}.so"
        if member not in archive.namelist() or stub.exists():
            continue
        with archive.open(member) as packed, tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(packed, unpacked, 1 << 20)  # all of it: zipfile compares the checksum at the end
            exports = elf_stub.read(unpacked)
        _write_symbols(folder, library, exports.names())
        unfinished = stub.with_suffix(".unfinished")
        elf_stub.write(exports, unfinished)
        unfinished.rename(stub)


def _for_macos(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for library in libraries:
        member = _require_member(archive, f"torch/lib/lib{library}.dylib")
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            binary = macho.read(Path(archive.extract(member, scratch)))
        write_tbd(folder, library, f"@rpath/lib{library}.dylib", binary.exported)
        for symbol in binary.undefined:
            if not symbol.weak:  # torch also loads where a weak symbol is missing
                used[symbol.library].add(symbol.name)
    write_tbd(folder, "c++", _LIBCXX, used[_LIBCXX])
    _write_symbols(folder, "System", used[_LIBSYSTEM])


def _for_windows(archive: zipfile.ZipFile, libraries: tuple[str, ...], folder: Path) -> None:
    for library in libraries:
        data = archive.read(_require_member(archive, f"torch/lib/{library}.lib"))
        (folder / f"{library}.lib").write_bytes(data)
        _write_symbols(folder, library, import_library_symbols(data))


def import_library_symbols(data: bytes) -> set[str]:
    """The symbols of an import library, read from the index at its start: a count, offsets, then the names."""
    if not data.startswith(b"!<arch>\n/"):
        raise ToolError(
            "an import library of torch's wheel has no index: torch's wheels have changed. Adapt tools/sdk/stubs.py"
        )
    size, (count,) = int(data[56:66]), struct.unpack_from(">I", data, 68)
    names = data[72 + 4 * count : 68 + size].split(b"\0")[:count]
    return {name.decode().removeprefix("__imp_") for name in names if not name.startswith((b"__IMPORT", b"\x7f"))}


def _require_member(archive: zipfile.ZipFile, name: str) -> str:
    if name not in archive.namelist():
        raise ToolError(
            f"{archive.filename or 'the wheel'} has no {name}: torch's wheels have changed. Adapt tools/sdk/stubs.py"
        )
    return name


def write_tbd(folder: Path, library: str, install_name: str, symbols: Iterable[str]) -> None:
    """Write a text-based stub and the list of its symbols. In a Mach-O file, each name begins with an underscore."""
    _write_symbols(folder, library, symbols)
    spelled = ", ".join(f"'_{name}'" for name in sorted(symbols))
    (folder / f"lib{library}.tbd").write_text(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n"
        f"install-name: '{install_name}'\nexports:\n  - targets: [ arm64-macos ]\n    symbols: [ {spelled} ]\n...\n",
        encoding="utf-8",
    )


def _write_symbols(folder: Path, library: str, symbols: Iterable[str]) -> None:
    text = "".join(f"{name}\n" for name in sorted(symbols))
    (folder / f"lib{library}.symbols").write_text(text, encoding="utf-8")
