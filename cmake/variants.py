"""Answers CMake's questions of Python: the matrix, where packages are, and the manifest of what was installed.

variants.py package NAME                 prints the directory of an installed package, without importing it
variants.py cmake                        prints the matrix as CMake's `set` commands
variants.py manifest LIB_DIR VERSION     writes LIB_DIR/manifest.json for the libraries found below LIB_DIR
"""

from __future__ import annotations

import importlib.util
import json
import platform
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


def system() -> str:
    return {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}.get(platform.system(), platform.system().lower())


def this_platform() -> str:
    machine = platform.machine().lower()
    if machine == "amd64":
        machine = "x64" if system() == "windows" else "x86_64"
    return f"{system()}-{machine}"


def cmake() -> None:
    matrix = read()
    lines = [f'set(DLX_PLATFORM "{this_platform()}")']
    rows = []
    for row in matrix["row"]:
        name = row_directory(row["torch"], row["cxx11"])
        rows.append(name)
        for key in ("torch", "sdk", "std", "serves"):
            lines.append(f'set(DLX_ROW_{name}_{key.upper()} "{row[key]}")')
        lines.append(f"set(DLX_ROW_{name}_CXX11 {int(row['cxx11'])})")
    lines.append(f'set(DLX_ALL_ROWS "{";".join(rows)}")')
    lines.append(f'set(DLX_ALL_BACKENDS "{";".join(matrix["backends"])}")')
    for name, backend in matrix["backends"].items():
        lines.append(f'set(DLX_BACKEND_{name}_LINKS "{";".join(backend["links"])}")')
        lines.append(f'set(DLX_BACKEND_{name}_EXTRA "{";".join(backend.get("extra", []))}")')
        lines.append(f'set(DLX_BACKEND_{name}_PLATFORMS "{";".join(backend["platforms"])}")')
        lines.append(f'set(DLX_BACKEND_{name}_FILE "{library_file(name, system())}")')
    for name, overlay in matrix["overlay"].items():
        lines.append(f'set(DLX_OVERLAY_{name}_PLATFORMS "{";".join(overlay["platforms"])}")')
    print("\n".join(lines))


def package(name: str) -> None:
    spec = importlib.util.find_spec(name)
    print(next(iter(spec.submodule_search_locations or []), "") if spec else "")


def manifest(lib_dir: Path, version: str) -> None:
    matrix = read()
    variants = [
        {
            "row": row_directory(row["torch"], row["cxx11"]),
            "backend": backend,
            "torch": row["torch"],
            "cxx11_abi": row["cxx11"],
            "serves": row["serves"],
            "file": f"{row_directory(row['torch'], row['cxx11'])}/{library_file(backend, system())}",
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
            "file": f"{row_directory(None, None)}/{library_file(backend, system())}",
        }
        for backend in matrix["overlay"]
    ]
    document = {
        "schema": SCHEMA,
        "version": version,
        "platform": this_platform(),
        "variants": [variant for variant in variants if (lib_dir / str(variant["file"])).is_file()],
    }
    (lib_dir / "manifest.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["cmake"]:
        cmake()
    elif len(sys.argv) == 3 and sys.argv[1] == "package":
        package(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "manifest":
        manifest(Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
