"""Wheels for macOS and Windows, for tests of the audit, and a torch SDK for each system. zig compiles the libraries
from library.c."""

from __future__ import annotations

import functools
import subprocess
import zlib
from pathlib import Path

from dlx_torch_ext._variants import library_file

from tests.support import compiled
from tests.tools import synthetic
from tests.tools.synthetic import CPYTHON, EXPORTS, LIB, LINKS, NO_STRING, PYTHON
from tools.build import zig
from tools.sdk import stubs

TAGS = {"macos": "macosx_11_0_arm64", "windows": "win_amd64"}
ARCHS = {"macos": "arm64", "windows": "x64"}
TARGETS = {"macos": "aarch64-macos.11.0", "windows": "x86_64-windows-gnu"}
FILE_NAMES = {"macos": "@rpath/lib{}.dylib", "windows": "{}.dll"}

STRING = "_ZN3c105ErrorC1ENS_14SourceLocationENSt3__112basic_stringIcNS2_11char_traitsIcEENS2_9allocatorIcEEEE"
CXX, SYSTEM = "_ZTISt9exception", "mach_absolute_time"  # in macOS's own libraries
EXPORTED = {"c10": (*NO_STRING, STRING), "torch_cpu": (), "torch_python": (PYTHON,), "c++": (CXX,), "System": (SYSTEM,)}
LIBRARY = {system: f"{LIB}/torch2_9_cxx11/{library_file('cpu', system)}" for system in TAGS}


def sdk(folder: Path) -> None:
    """Write an SDK of torch 2.9.1 for each system, in the same folders as synthetic.sdk."""
    for system, arch in ARCHS.items():
        lib = folder / arch / "2.9.1" / "lib"
        lib.mkdir(parents=True)
        for library, symbols in EXPORTED.items():
            stubs.write_tbd(lib, library, FILE_NAMES[system].format(library), symbols)


@functools.cache
def library(
    system: str,
    *,
    needs: tuple[str, ...] = (),
    undefined: tuple[str, ...] | None = None,
    exports: tuple[str, ...] = EXPORTS,
    text: str = "",
    flags: tuple[str, ...] = (),
    target: str = "",
    unlinked: bool = False,
) -> bytes:
    """The bytes of a library that refers to the symbols `undefined`. It is linked to stubs of the libraries that have
    them, or, with `unlinked`, to none of these; `needs` are further link stubs (`stub`), which come first."""
    if undefined is None:
        undefined = (*NO_STRING, PYTHON, *CPYTHON, *((STRING, CXX, SYSTEM) if system == "macos" else ()))
    linked = [stub(system, FILE_NAMES[system].format(name), *EXPORTED[name]) for name in LINKS]
    if system == "macos":
        linked.append(stub(system, "/usr/lib/libc++.1.dylib", CXX))
        system_flags = ["-undefined", "dynamic_lookup", "-Wl,-install_name,@rpath/library.dylib"]
    else:
        linked.append(stub(system, "python3.dll", *CPYTHON))
        system_flags = ["-nostdlib", f"-Wl,--entry={exports[0]}"]
    path = compiled.library(
        Path(__file__).with_name("library.c"),
        "-fvisibility=hidden",
        "-s",
        f"-DUNDEFINED={' '.join(f'STRONG({name})' for name in undefined)}",
        f"-DEXPORTS={' '.join(f'EXPORT({name})' for name in exports)}",
        f'-DTEXT="{text}"',
        *needs,
        *([] if unlinked else linked),
        *system_flags,
        *flags,
        compiler=_zig("cc", "-target", target or TARGETS[system]),
    )
    return path.read_bytes()


@functools.cache
def stub(system: str, file: str, *symbols: str) -> str:
    """The path of a link stub. A library linked to it is bound to `file` for these symbols."""
    key = f"{zlib.crc32(repr((file, symbols)).encode()):08x}"
    folder = compiled.scratch() / "link-stubs" / system / key
    folder.mkdir(parents=True, exist_ok=True)
    if system == "macos":
        stubs.write_tbd(folder, "stub", file, symbols)
        return str(folder / "libstub.tbd")
    definition, import_library = folder / "stub.def", folder / "stub.lib"
    definition.write_text("\n".join([f"LIBRARY {file}", "EXPORTS", *symbols, ""]))
    subprocess.run(_zig("dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(import_library)), check=True)
    return str(import_library)


def _zig(*words: str) -> tuple[str, ...]:
    return ("env", *(f"{name}={value}" for name, value in zig.environment().items()), str(zig.program()), *words)


def good(system: str) -> dict[str, bytes]:
    """The members of a good wheel with one library, as synthetic.good."""
    entry = {**synthetic.entry("2.9", True, "cpu"), "file": LIBRARY[system].removeprefix(f"{LIB}/")}
    members = {name: data for name, data in synthetic.good().items() if not name.startswith(LIB)}
    members[LIBRARY[system]] = library(system)
    members[f"{LIB}/manifest.json"] = synthetic.manifest([entry], f"{system}-{ARCHS[system]}")
    return members
