"""Answers CMake's questions of Python: the matrix, where packages are, and the manifest of what was installed.

variants.py package NAME                 prints the directory of an installed package, without importing it
variants.py cmake SYSTEM PROCESSOR       prints the matrix as JSON, for the platform that CMake calls by these two names
variants.py manifest LIB_DIR VERSION PLATFORM
                                         writes LIB_DIR/manifest.json for the libraries found below LIB_DIR
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if (ROOT / "python").is_dir():
    sys.path.insert(0, str(ROOT / "python"))
else:  # dlx_torch_ext/_src in an installation: the packages beside ours must not hide the standard library
    sys.path.append(str(ROOT.parent.parent))

from dlx_torch_ext._cli.matrix import OVERLAY, Matrix, MatrixError, read  # noqa: E402
from dlx_torch_ext._variants import SCHEMA, library_file  # noqa: E402


def platform(system: str, processor: str) -> str:
    """The platform that CMake calls ("Linux", "x86_64"), in the words of variants.toml: "linux-x86_64"."""
    name = {"Darwin": "macos"}.get(system, system.lower())
    machine = processor.lower()
    if machine in ("amd64", "x64"):
        machine = "x64" if name == "windows" else "x86_64"
    return f"{name}-{machine}"


def for_cmake(matrix: Matrix, target: str) -> dict[str, Any]:
    """What cmake/DlxVariants.cmake makes variables of. Lists, not objects, where the order counts: CMake sorts the
    members of an object. 0 and 1, not false and true, which CMake reads as OFF and ON."""
    rows = [
        {
            "name": name,
            "torch": row.torch,
            "cxx11_abi": int(row.cxx11_abi),
            "std": row.std,
            "sdk": row.sdk,
            "backends": matrix.backends_of(name, target),
        }
        for name, row in matrix.rows.items()
    ]
    backends = [
        {
            "name": name,
            "links": list(backend.links),
            "extra": list(backend.extra),
            "file": library_file(name, target.partition("-")[0]),
        }
        for name, backend in matrix.backends.items()
    ]
    return {"platform": target, "rows": rows, "backends": backends, "overlays": matrix.backends_of(OVERLAY, target)}


def package(name: str) -> str:
    """The directory of a package, "" where there is none."""
    spec = importlib.util.find_spec(name)
    return next(iter(spec.submodule_search_locations or []), "") if spec else ""


def manifest(matrix: Matrix, lib_dir: Path, version: str, target: str) -> dict[str, Any]:
    """The manifest of the libraries that lie in `lib_dir`."""
    variants = []
    for row, backend in matrix.files(target):
        file = f"{row}/{library_file(backend, target.partition('-')[0])}"
        stated = matrix.rows.get(row)  # None for the overlay
        if (lib_dir / file).is_file():
            variants.append(
                {
                    "row": row,
                    "backend": backend,
                    "torch": stated.torch if stated else None,
                    "cxx11_abi": stated.cxx11_abi if stated else None,
                    "serves": stated.serves if stated else "overlay",
                    "file": file,
                }
            )
    return {"schema": SCHEMA, "version": version, "platform": target, "variants": variants}


def main(arguments: list[str]) -> None:
    toml = ROOT / "variants.toml"
    if len(arguments) == 3 and arguments[0] == "cmake":
        print(json.dumps(for_cmake(read(toml), platform(*arguments[1:]))))
    elif len(arguments) == 2 and arguments[0] == "package":
        print(package(arguments[1]))
    elif len(arguments) == 4 and arguments[0] == "manifest":
        lib_dir = Path(arguments[1])
        document = manifest(read(toml), lib_dir, *arguments[2:])
        (lib_dir / "manifest.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except MatrixError as error:
        sys.exit(str(error))
