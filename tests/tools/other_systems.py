"""Wheels for macOS and Windows, their libraries compiled by zig from synthetic's source, and a torch SDK for each."""

from __future__ import annotations

import functools
import subprocess
import zlib
from pathlib import Path

from dlx_torch_ext._variants import library_file

from tests.support import compiled
from tests.tools import synthetic
from tests.tools.synthetic import CPYTHON, LIB, LINKS, PLAIN, PYTHON, TABLE
from tools.build import zig
from tools.sdk import stubs

TAGS = {"macos": "macosx_11_0_arm64", "windows": "win_amd64"}
ARCHS = {"macos": "arm64", "windows": "x64"}
TARGETS = {"macos": "aarch64-macos.11.0", "windows": "x86_64-windows-gnu"}
FILES = {"macos": "@rpath/lib{}.dylib", "windows": "{}.dll"}

STRING = "_ZN3c105ErrorC1ENS_14SourceLocationENSt3__112basic_stringIcNS2_11char_traitsIcEENS2_9allocatorIcEEEE"
CXX, SYSTEM = "_ZTISt9exception", "mach_absolute_time"  # of macOS's own libraries
HAVE = {"c10": (*PLAIN, STRING), "torch_cpu": (), "torch_python": (PYTHON,), "c++": (CXX,), "System": (SYSTEM,)}
LIBRARY = {system: f"{LIB}/torch2_9_cxx11/{library_file('cpu', system)}" for system in TAGS}


def sdk(folder: Path) -> None:
    """SDKs of torch 2.9.1, as synthetic.sdk lays them out."""
    for system, arch in ARCHS.items():
        lib = folder / arch / "2.9.1" / "lib"
        lib.mkdir(parents=True)
        for library, symbols in HAVE.items():
            stubs.write_tbd(lib, library, FILES[system].format(library), symbols)


@functools.cache
def library(
    system: str,
    *,
    needs: tuple[str, ...] = (),
    asks: tuple[str, ...] | None = None,
    exports: tuple[str, ...] = TABLE,
    text: str = "",
    flags: tuple[str, ...] = (),
    target: str = "",
    bare: bool = False,
) -> bytes:
    """The bytes of a library that refers to `asks` and is linked to what has them, or, where it is bare, to nothing;
    `needs` are link stubs (`stub`) that come before."""
    if asks is None:
        asks = (*PLAIN, PYTHON, *CPYTHON, *((STRING, CXX, SYSTEM) if system == "macos" else ()))
    linked = [stub(system, FILES[system].format(name), *HAVE[name]) for name in LINKS]
    if system == "macos":
        linked.append(stub(system, "/usr/lib/libc++.1.dylib", CXX))
        more = ["-undefined", "dynamic_lookup", "-Wl,-install_name,@rpath/library.dylib"]
    else:
        linked.append(stub(system, "python3.dll", *CPYTHON))
        more = ["-nostdlib", f"-Wl,--entry={exports[0]}"]
    made = compiled.library(
        Path(__file__).with_name("library.c"),
        "-fvisibility=hidden",
        "-s",
        f"-DASKS={' '.join(f'ASK({name})' for name in asks)}",
        f"-DEXPORTS={' '.join(f'EXPORT({name})' for name in exports)}",
        f'-DTEXT="{text}"',
        *needs,
        *([] if bare else linked),
        *more,
        *flags,
        compiler=_zig("cc", "-target", target or TARGETS[system]),
    )
    return made.read_bytes()


@functools.cache
def stub(system: str, file: str, *symbols: str) -> str:
    """The path of a link stub: what is linked to it is bound to `file` for these symbols."""
    key = f"{zlib.crc32(repr((file, symbols)).encode()):08x}"
    folder = compiled.scratch() / "link-stubs" / system / key
    folder.mkdir(parents=True, exist_ok=True)
    if system == "macos":
        stubs.write_tbd(folder, "stub", file, symbols)
        return str(folder / "libstub.tbd")
    definition, made = folder / "stub.def", folder / "stub.lib"
    definition.write_text("\n".join([f"LIBRARY {file}", "EXPORTS", *symbols, ""]))
    subprocess.run(_zig("dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(made)), check=True)
    return str(made)


def _zig(*words: str) -> tuple[str, ...]:
    return ("env", *(f"{name}={value}" for name, value in zig.environment().items()), str(zig.program()), *words)


def good(system: str) -> dict[str, bytes]:
    """The members of a wheel with one library, as synthetic.good."""
    entry = {**synthetic.entry("2.9", True, "cpu"), "file": LIBRARY[system].removeprefix(f"{LIB}/")}
    members = {name: data for name, data in synthetic.good().items() if not name.startswith(LIB)}
    members[LIBRARY[system]] = library(system)
    members[f"{LIB}/manifest.json"] = synthetic.manifest([entry], f"{system}-{ARCHS[system]}")
    return members
