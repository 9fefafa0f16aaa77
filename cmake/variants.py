"""Answers CMake's questions of Python: the matrix, where packages are, and the manifest of what was installed.

variants.py package NAME                 prints the directory of an installed package, without importing it
variants.py cmake SYSTEM PROCESSOR       prints the matrix as CMake's `set` commands, for that platform in CMake's words
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
else:  # dlx_torch_ext/_src in an installation, where what lies beside the package must not hide the standard library
    sys.path.append(str(ROOT.parent.parent))

from dlx_torch_ext._variants import SCHEMA, library_file, row_directory  # noqa: E402

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read() -> dict[str, Any]:
    with open(ROOT / "variants.toml", "rb") as stream:
        return tomllib.load(stream)


def platform(system: str, processor: str) -> str:
    """The platform that CMake calls ("Linux", "x86_64"), in the words of variants.toml: "linux-x86_64"."""
    name = {"Darwin": "macos"}.get(system, system.lower())
    machine = processor.lower()
    if machine in ("amd64", "x64"):
        machine = "x64" if name == "windows" else "x86_64"
    return f"{name}-{machine}"


def backends(matrix: dict[str, Any], row: dict[str, Any], platform: str) -> list[str]:
    """The backends that a row has on a platform. Only libstdc++, Linux's, has two C++ ABIs: elsewhere the rows with the
    newer one stand for the only one there is."""
    if not row["cxx11"] and not platform.startswith("linux-"):
        return []
    return [
        name
        for name, backend in matrix["backends"].items()
        if platform in backend["platforms"] and row["serves"] in backend.get("serves", [row["serves"]])
    ]


def cmake(target: str) -> None:
    matrix, system = read(), target.partition("-")[0]
    lines = [f'set(DLX_PLATFORM "{target}")']
    rows = []
    for row in matrix["row"]:
        name = row_directory(row["torch"], row["cxx11"])
        rows.append(name)
        for key in ("torch", "sdk", "std", "serves"):
            lines.append(f'set(DLX_ROW_{name}_{key.upper()} "{row[key]}")')
        lines.append(f"set(DLX_ROW_{name}_CXX11 {int(row['cxx11'])})")
        lines.append(f'set(DLX_ROW_{name}_BACKENDS "{";".join(backends(matrix, row, target))}")')
    lines.append(f'set(DLX_ALL_ROWS "{";".join(rows)}")')
    lines.append(f'set(DLX_ALL_BACKENDS "{";".join(matrix["backends"])}")')
    for name, backend in matrix["backends"].items():
        lines.append(f'set(DLX_BACKEND_{name}_LINKS "{";".join(backend["links"])}")')
        lines.append(f'set(DLX_BACKEND_{name}_EXTRA "{";".join(backend.get("extra", []))}")')
        lines.append(f'set(DLX_BACKEND_{name}_FILE "{library_file(name, system)}")')
    for name, overlay in matrix["overlay"].items():
        lines.append(f'set(DLX_OVERLAY_{name}_PLATFORMS "{";".join(overlay["platforms"])}")')
    print("\n".join(lines))


def package(name: str) -> None:
    spec = importlib.util.find_spec(name)
    print(next(iter(spec.submodule_search_locations or []), "") if spec else "")


def manifest(lib_dir: Path, version: str, target: str) -> None:
    matrix, system = read(), target.partition("-")[0]
    variants = [
        {
            "row": row_directory(row["torch"], row["cxx11"]),
            "backend": backend,
            "torch": row["torch"],
            "cxx11_abi": row["cxx11"],
            "serves": row["serves"],
            "file": f"{row_directory(row['torch'], row['cxx11'])}/{library_file(backend, system)}",
        }
        for row in matrix["row"]
        for backend in matrix["backends"]
    ]
    variants += [
        {
            "row": row_directory(None, None),
            "backend": backend,
            "torch": None,
            "cxx11_abi": None,
            "serves": "overlay",
            "file": f"{row_directory(None, None)}/{library_file(backend, system)}",
        }
        for backend in matrix["overlay"]
    ]
    document = {
        "schema": SCHEMA,
        "version": version,
        "platform": target,
        "variants": [variant for variant in variants if (lib_dir / str(variant["file"])).is_file()],
    }
    (lib_dir / "manifest.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "cmake":
        cmake(platform(*sys.argv[2:]))
    elif len(sys.argv) == 3 and sys.argv[1] == "package":
        package(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "manifest":
        manifest(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        sys.exit(__doc__)
