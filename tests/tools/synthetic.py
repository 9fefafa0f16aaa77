"""Wheels for the tests of the audit, with small compiled libraries, a manifest and metadata; and a torch SDK to compare
with.

A test takes the members of a good wheel, changes some, and calls `pack`, which adds WHEEL and RECORD and writes the
file.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import struct
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dlx_torch_ext._variants import library_file, row_directory

from tests.support import compiled
from tools.sdk import elf_stub

LIB = "dlx_torch_ext/_lib"
INFO = "dlx_torch_ext-0.1.0.dist-info"
X86_64 = "manylinux_2_28_x86_64"
PROCESSORS = {"x86_64": 62, "aarch64": 183}  # e_machine

# Symbols of torch's wheels: two that mention no std::string, and one that does, in the older and in the newer C++ ABI.
NO_STRING = ("_ZN3c106detail14torchCheckFailEPKcS2_jS2_", "_ZN3c1019UndefinedTensorImpl10_singletonE")
CXX98_STRING = "_ZN3c105ErrorC1ENS_14SourceLocationESs"
CXX11_STRING = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
PYTHON = "THPVariableClass"
CUDA = "_ZN3c104cuda20getCurrentCUDAStreamEa"
HIP = "_ZN3c103hip19getCurrentHIPStreamEa"

LINKS = ("c10", "torch_cpu", "torch_python")
EXPORTS = ("dlx_torch_build_info", "dlx_torch_exchange_api")
OVERLAY_EXPORTS = ("dlx_torch_build_info", "dlx_torch_overlay")
CPYTHON = ("PyErr_SetString", "PyExc_BufferError", "PyGILState_Ensure")


def sdk(folder: Path) -> Path:
    """Write SDKs of a torch 2.5.1 with the older C++ ABI and a torch 2.9.1 with the newer; aarch64's have no CUDA."""
    for release, string in (("2.5.1", CXX98_STRING), ("2.9.1", CXX11_STRING)):
        for processor in PROCESSORS:
            lists = {"c10": (*NO_STRING, string), "torch_cpu": (), "torch_python": (PYTHON,), "c10_cuda": (CUDA,)}
            if processor == "aarch64":
                del lists["c10_cuda"]
            lib = folder / processor / release / "lib"
            lib.mkdir(parents=True)
            for name, symbols in lists.items():
                (lib / f"lib{name}.symbols").write_text("".join(f"{symbol}\n" for symbol in symbols))
    return folder


@functools.cache
def library(
    *,
    needs: tuple[str, ...] = LINKS,
    undefined: tuple[str, ...] = (*NO_STRING, CXX11_STRING, PYTHON, *CPYTHON),
    weak: tuple[str, ...] = (),
    exports: tuple[str, ...] = EXPORTS,
    text: str = "",
    flags: tuple[str, ...] = (),
    processor: str = "x86_64",
) -> bytes:
    """The bytes of a library that needs lib<name>.so for each of `needs`, refers to the symbols `undefined`, and has
    weak references to the symbols `weak`."""
    references = " ".join([*(f"STRONG({name})" for name in undefined), *(f"WEAK({name})" for name in weak)])
    path = compiled.library(
        Path(__file__).with_name("library.c"),
        "-fvisibility=hidden",
        "-Wl,--no-as-needed",
        "-Wl,-z,relro,-z,now",
        f"-DUNDEFINED={references}",
        f"-DEXPORTS={' '.join(f'EXPORT({name})' for name in exports)}",
        f'-DTEXT="{text}"',
        *(str(_stub(f"lib{name}.so")) for name in needs),
        *flags,
    )
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, 18, PROCESSORS[processor])  # the audit only reads it: e_machine is enough
    return bytes(data)


@functools.cache
def _stub(soname: str) -> Path:
    """The path of a link stub without symbols; a library linked to it gets this NEEDED entry."""
    path = compiled.scratch() / "link-stubs" / soname
    path.parent.mkdir(exist_ok=True)
    elf_stub.write(elf_stub.Exports(soname, 62, ()), path)
    return path


def aliased(soname: str, name: str, alias: str) -> str:
    """The path of a library with two names for one object. A linker that uses `name` also adds the weak `alias`."""
    source = compiled.scratch() / "aliased.c"
    source.write_text("const char NAME[8]; extern const char ALIAS[8] __attribute__((weak, alias(TEXT)));\n")
    names = (f"-DNAME={name}", f"-DALIAS={alias}", f'-DTEXT="{name}"')
    return str(compiled.library(source, f"-Wl,-soname,{soname}", "-nostdlib", *names))


def versioned(soname: str, node: str) -> str:
    """The path of a library that defines the symbol `dlx_versioned` with this version node."""
    script = compiled.scratch() / f"{node}.map"
    script.write_text(f"{node} {{ global: dlx_versioned; }};\n")
    source = compiled.scratch() / "versioned.c"
    source.write_text("const char dlx_versioned[1];\n")
    return str(compiled.library(source, f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}", "-nostdlib"))


def entry(torch: str | None, cxx11_abi: bool | None, backend: str, serves: str = "default") -> dict[str, Any]:
    """The entry of one variant in the manifest."""
    row = row_directory(torch, cxx11_abi)
    file = f"{row}/{library_file(backend, 'linux')}"
    return {"row": row, "backend": backend, "torch": torch, "cxx11_abi": cxx11_abi, "serves": serves, "file": file}


def good(processor: str = "x86_64") -> dict[str, bytes]:
    """The members of a good wheel with a row of each kind, without WHEEL and RECORD."""
    entries = [
        entry("2.5", False, "cpu"),
        entry("2.5", True, "cpu"),
        entry("2.9", True, "cpu"),
        entry("2.9", True, "cuda"),
        entry("2.9", True, "torch_npu"),
        entry(None, None, "torch_npu", "overlay"),
    ]
    old = (*NO_STRING, CXX98_STRING, PYTHON, *CPYTHON)
    libraries = [
        library(undefined=old, processor=processor),
        library(processor=processor),
        library(processor=processor),
        library(needs=(*LINKS, "c10_cuda"), undefined=(*NO_STRING, CXX11_STRING, CUDA, *CPYTHON), processor=processor),
        library(processor=processor),
        library(needs=(), undefined=CPYTHON, exports=OVERLAY_EXPORTS, processor=processor),
    ]
    if processor == "x86_64":
        entries.append(entry("2.9", True, "rocm"))
        libraries.append(library(needs=(*LINKS, "c10_hip"), weak=(HIP, CUDA)))
    files = {f"{LIB}/{entry['file']}": data for entry, data in zip(entries, libraries)}
    metadata = "Metadata-Version: 2.4\nName: dlx-torch-ext\nVersion: 0.1.0\nRequires-Python: >=3.9\n"
    return {
        **files,
        f"{LIB}/manifest.json": manifest(entries, f"linux-{processor}"),
        "dlx_torch_ext/__init__.py": b"",
        "dlx_torch_ext/include/dlpack/dlpack.h": b"/* dlpack */",
        "dlx_torch_ext/include/dlpack/LICENSE": b"Apache-2.0",
        f"{INFO}/METADATA": f"{metadata}License-File: LICENSE\nLicense-File: NOTICE\n".encode(),
        f"{INFO}/licenses/LICENSE": b"Apache-2.0",
        f"{INFO}/licenses/NOTICE": b"notice",
    }


def manifest(entries: Iterable[Mapping[str, Any]], platform: str = "linux-x86_64", version: str = "0.1.0") -> bytes:
    return json.dumps(
        {"schema": 1, "version": version, "platform": platform, "variants": [dict(entry) for entry in entries]}
    ).encode()


def record(members: Mapping[str, bytes]) -> bytes:
    """The content of RECORD for these members and for RECORD itself."""

    def digest(data: bytes) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()

    lines = [f"{name},sha256={digest(data)},{len(data)}" for name, data in members.items()]
    return "\n".join([*lines, f"{INFO}/RECORD,,", ""]).encode()


def pack(folder: Path, members: Mapping[str, bytes], platform: str = X86_64, tag: str = "py3-none") -> Path:
    """Write the wheel and return its path. WHEEL and RECORD are added where `members` has none."""
    wheel_file = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}-{platform}\n"
    whole = {f"{INFO}/WHEEL": wheel_file.encode(), **members}
    whole.setdefault(f"{INFO}/RECORD", record(whole))
    path = folder / f"dlx_torch_ext-0.1.0-{tag}-{platform}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in whole.items():
            archive.writestr(name, data)
    return path
