"""The libraries of this installation: their names, and the manifest that lists them, which the build wrote."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ._record import Record

SCHEMA = 1
SERVES = ("default", "prefer", "overlay")


def library_file(backend: str, system: str) -> str:
    """The file name of the library for `backend`; `system` is "linux", "macos" or "windows". The build, the packaging
    and the loader all use this function."""
    return file_on(system, f"dlx_torch_{backend}")


def file_on(system: str, library: str) -> str:
    """How `system` spells the file of a library: libc10.so, libc10.dylib or c10.dll."""
    prefix, suffix = {"windows": ("", ".dll"), "macos": ("lib", ".dylib")}.get(system, ("lib", ".so"))
    return f"{prefix}{library}{suffix}"


def row_directory(torch: str | None, cxx11_abi: bool | None) -> str:
    """The directory of a row, a Python identifier: `torch2_9_cxx11`. `overlay` if `torch` is None."""
    if torch is None:
        return "overlay"
    return f"torch{torch.replace('.', '_')}_{'cxx11' if cxx11_abi else 'cxx98'}"


def human_name(torch: str | None, cxx11_abi: bool | None, backend: str) -> str:
    """The name that people see: `torch2.9-cxx11-cuda`, `overlay-torch_npu`."""
    if torch is None:
        return f"overlay-{backend}"
    return f"torch{torch}-{'cxx11' if cxx11_abi else 'cxx98'}-{backend}"


class Variant(Record):
    """One library. `torch` and `cxx11_abi`: the release line ("2.9") and C++ ABI that it was compiled for, None for the
    overlay, which fits any torch. `serves`: one of SERVES, as in variants.toml.

    A library of `dlx-torch build` has the full version as `torch`, and `serves` is "built".
    """

    torch: str | None
    cxx11_abi: bool | None
    backend: str
    serves: str
    path: str

    @property
    def name(self) -> str:
        return human_name(self.torch, self.cxx11_abi, self.backend)


class Manifest(Record):
    """The variants of this installation. `problem`: why there are none; "" if the manifest was read."""

    variants: tuple[Variant, ...] = ()
    platform: str = ""
    version: str = ""
    problem: str = ""


class _Malformed(ValueError):
    pass


def read_manifest(package_path: Iterable[str] | None = None) -> Manifest:
    """Reads `_lib/manifest.json` in the first folder of the package's `__path__` that has one: an editable installation
    has several folders. Never raises: the manifest's `problem` says what is wrong."""
    entries = list(sys.modules[__package__].__path__ if package_path is None else package_path)
    for entry in entries:
        folder = os.path.join(entry, "_lib")
        file = os.path.join(folder, "manifest.json")
        try:
            with open(file, encoding="utf-8") as stream:
                return _parse(json.load(stream), folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            return Manifest(problem=f"{file} cannot be used ({error}): reinstall dlx-torch-ext")
    return Manifest(problem=_why_there_is_none(entries))


def _why_there_is_none(entries: Sequence[str]) -> str:
    """Why no folder of the package has a manifest, and what to do."""
    archive = next(filter(None, map(archive_of, entries)), "")
    if archive:
        return (
            f"dlx_torch_ext is imported from the archive {archive}, and no system loads libraries from an archive:"
            " install the wheel in a folder that comes before it on sys.path, or set DLX_TORCH_LIBRARY"
        )
    if getattr(sys, "frozen", False):
        return (
            "this frozen app has dlx_torch_ext without its libraries: let PyInstaller run the hook that dlx-torch-ext"
            " has for it, or add the package's folder _lib and its metadata to the app"
        )
    return (
        "this installation of dlx-torch-ext is pure Python and holds no library: install the wheel for this"
        " platform, run `dlx-torch build`, or install from source with DLX_TORCH_BUILD_NATIVE=1"
    )


def archive_of(path: str) -> str:
    """The zip archive that `path` leads into, as Python writes the place of a module in one; "" if it is in none."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path if os.path.isfile(path) else ""


def _parse(data: Any, folder: str) -> Manifest:
    if not isinstance(data, dict):
        raise _Malformed("a JSON object is expected")
    if data.get("schema") != SCHEMA:
        raise _Malformed(f"schema {data.get('schema')!r} is not {SCHEMA}")
    platform, version, entries = data.get("platform"), data.get("version"), data.get("variants")
    if not isinstance(platform, str) or not isinstance(version, str) or not isinstance(entries, list):
        raise _Malformed("platform, version or variants is missing")
    system = platform.partition("-")[0]
    return Manifest(tuple(_parse_variant(entry, folder, system) for entry in entries), platform, version)


def _parse_variant(entry: Any, folder: str, system: str) -> Variant:
    if not isinstance(entry, dict):
        raise _Malformed(f"variant {entry!r} is not an object")
    torch, abi, backend, serves = (entry.get(key) for key in ("torch", "cxx11_abi", "backend", "serves"))
    overlay = serves == "overlay"
    if not isinstance(backend, str) or serves not in SERVES:
        raise _Malformed(f"variant {entry!r} has an unknown backend or serves")
    if not (torch is None and abi is None if overlay else isinstance(torch, str) and isinstance(abi, bool)):
        raise _Malformed(f"variant {entry!r} has no usable torch and cxx11_abi")
    row = row_directory(torch, abi)
    file = f"{row}/{library_file(backend, system)}"
    if entry.get("row") != row or entry.get("file") != file:
        raise _Malformed(f"variant {entry!r} should be {file}")
    return Variant(torch, abi, backend, serves, os.path.join(folder, *file.split("/")))
