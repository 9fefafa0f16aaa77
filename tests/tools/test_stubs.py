"""The link stubs that an SDK is made of, from a wheel of torch for macOS or Windows: libraries of our own stand in."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.tools import other_systems
from tests.tools.other_systems import CXX, HAVE, SYSTEM, stub
from tools.audit import macho
from tools.sdk import stubs
from tools.settings import ToolError

LIBRARIES = ("c10", "torch_cpu", "torch_python")


def wheel(folder: Path, members: dict[str, bytes]) -> zipfile.ZipFile:
    with zipfile.ZipFile(folder / "torch.whl", "w") as archive:
        for name, data in members.items():
            archive.writestr(f"torch/lib/{name}", data)
    return zipfile.ZipFile(folder / "torch.whl")


def symbols(folder: Path, library: str) -> list[str]:
    return (folder / f"lib{library}.symbols").read_text().split()


class TestMacos:
    @pytest.fixture
    def lib(self, tmp_path: Path) -> Path:
        """The stubs of a torch whose libraries export `<library>_exports`, and ask the system for CXX and SYSTEM."""
        made = {
            f"lib{name}.dylib": other_systems.library("macos", asks=(CXX, SYSTEM), exports=(f"{name}_exports",))
            for name in LIBRARIES
        }
        with wheel(tmp_path, made) as archive:
            stubs.make(archive, "arm64", tmp_path / "lib")
        return tmp_path / "lib"

    def test_their_lists(self, lib: Path) -> None:
        assert {name: symbols(lib, name) for name in LIBRARIES} == {name: [f"{name}_exports"] for name in LIBRARIES}
        assert (symbols(lib, "c++"), symbols(lib, "System")) == ([CXX], [SYSTEM])

    def test_a_linker_binds_to_what_they_stand_for(self, lib: Path) -> None:
        linked = tuple(str(lib / f"lib{name}.tbd") for name in ("c10", "torch_python", "c++"))
        made = other_systems.library(
            "macos", asks=("c10_exports", "torch_python_exports", CXX), needs=linked, bare=True
        )
        bound = {symbol.name: symbol.library for symbol in macho.read(made).undefined}
        assert bound == {
            "c10_exports": "@rpath/libc10.dylib",
            "torch_python_exports": "@rpath/libtorch_python.dylib",
            CXX: "/usr/lib/libc++.1.dylib",
        }


def test_windows_has_import_libraries(tmp_path: Path) -> None:
    made = {f"{name}.lib": Path(stub("windows", f"{name}.dll", *HAVE[name])).read_bytes() for name in LIBRARIES}
    with wheel(tmp_path, made) as archive:
        stubs.make(archive, "x64", tmp_path / "lib")
    assert set(HAVE["c10"]) <= set(symbols(tmp_path / "lib", "c10"))
    assert not [name for name in symbols(tmp_path / "lib", "c10") if name.startswith("__imp_")]
    assert (tmp_path / "lib" / "torch_cpu.lib").read_bytes() == made["torch_cpu.lib"]


@pytest.mark.parametrize("arch", ["arm64", "x64"])
def test_a_wheel_without_them_is_said(arch: str, tmp_path: Path) -> None:
    with wheel(tmp_path, {"libc10.so": b""}) as archive, pytest.raises(ToolError, match="wheels of torch have changed"):
        stubs.make(archive, arch, tmp_path / "lib")
    with pytest.raises(ToolError, match="without an index"):
        stubs.import_library(b"MZ")
