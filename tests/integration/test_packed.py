"""Apps that PyInstaller and PEX pack: torch calls this package there, and the library in the app is loaded.

torch itself stays outside of these apps, because packing it takes minutes and gigabytes.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dlx_torch_ext
import pytest
import torch

from tests.support import packed
from tests.support.left_out import left_out_if

MISSING = [name for name in ("PyInstaller", "pex") if importlib.util.find_spec(name) is None]
pytestmark = left_out_if(MISSING, f"{' and '.join(MISSING)} not installed, which a session of its own has")
PACKAGES = Path(torch.__file__).parent.parent
PREFER = {"DLX_TORCH_PREFER": "dlx"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packed")


@pytest.fixture(scope="module")
def app(folder: Path) -> Path:
    """PyInstaller's program, with the folder that it needs beside it."""
    return packed.freeze(folder, "onedir")


def check(answer: Any) -> Path:
    """The table is that of the library in the package that was imported, which is returned; the torch is ours."""
    assert answer["provider"] == "dlx", answer
    assert answer["version"] == version("dlx-torch-ext")
    assert answer["torch"] == torch.__file__
    package = Path(answer["package"]).parent
    assert Path(answer["library"]).is_relative_to(package / "_lib"), answer
    return package


def test_a_folder_of_pyinstaller(app: Path) -> None:
    assert check(packed.run(app, PACKAGES, **PREFER)).is_relative_to(app.parent)


def test_a_single_file_of_pyinstaller(app: Path, folder: Path) -> None:
    single = packed.freeze(folder, "onefile")
    assert not check(packed.run(single, PACKAGES, **PREFER)).exists(), "it is unpacked for one process"


def test_pyinstaller_takes_every_library_and_nothing_else_but_modules(app: Path) -> None:
    inside = files(next(app.parent.glob("*/dlx_torch_ext")))
    here = files(Path(dlx_torch_ext.__file__).parent)
    data = ("troubleshooting.md", "py.typed")
    assert inside == {name: here[name] for name in here if name.startswith("_lib/") or name in data}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_pex_unpacks_the_package_itself(folder: Path) -> None:
    packages = check(packed.run(sys.executable, packed.pex(folder), packed.APP, **PREFER))
    assert packages.is_relative_to(folder / "root")
