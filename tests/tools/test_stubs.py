"""The link stubs of an SDK for macOS or Windows. Libraries that we compile take the place of torch's."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.tools import other_systems
from tests.tools.other_systems import CXX, EXPORTED, SYSTEM, stub
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
        """The stubs of a torch whose libraries export `<library>_exports`, and use the system's symbols CXX and
        SYSTEM."""
        libraries = {
            f"lib{name}.dylib": other_systems.library("macos", undefined=(CXX, SYSTEM), exports=(f"{name}_exports",))
            for name in LIBRARIES
        }
        with wheel(tmp_path, libraries) as archive:
            stubs.write_all(archive, "arm64", tmp_path / "lib")
        return tmp_path / "lib"

    def test_the_lists_of_symbols(self, lib: Path) -> None:
        assert {name: symbols(lib, name) for name in LIBRARIES} == {name: [f"{name}_exports"] for name in LIBRARIES}
        assert (symbols(lib, "c++"), symbols(lib, "System")) == ([CXX], [SYSTEM])

    def test_a_linker_binds_to_the_real_libraries(self, lib: Path) -> None:
        tbds = tuple(str(lib / f"lib{name}.tbd") for name in ("c10", "torch_python", "c++"))
        linked = other_systems.library(
            "macos", undefined=("c10_exports", "torch_python_exports", CXX), needs=tbds, unlinked=True
        )
        bound = {symbol.name: symbol.library for symbol in macho.read(linked).undefined}
        assert bound == {
            "c10_exports": "@rpath/libc10.dylib",
            "torch_python_exports": "@rpath/libtorch_python.dylib",
            CXX: "/usr/lib/libc++.1.dylib",
        }


def test_for_windows_the_import_libraries_are_copied(tmp_path: Path) -> None:
    libraries = {
        f"{name}.lib": Path(stub("windows", f"{name}.dll", *EXPORTED[name])).read_bytes() for name in LIBRARIES
    }
    with wheel(tmp_path, libraries) as archive:
        stubs.write_all(archive, "x64", tmp_path / "lib")
    assert set(EXPORTED["c10"]) <= set(symbols(tmp_path / "lib", "c10"))
    assert not [name for name in symbols(tmp_path / "lib", "c10") if name.startswith("__imp_")]
    assert (tmp_path / "lib" / "torch_cpu.lib").read_bytes() == libraries["torch_cpu.lib"]


@pytest.mark.parametrize("arch", ["arm64", "x64"])
def test_a_wheel_without_the_libraries_is_refused(arch: str, tmp_path: Path) -> None:
    with (
        wheel(tmp_path, {"libc10.so": b""}) as archive,
        pytest.raises(ToolError, match=r"has no torch/lib/.*: torch's wheels have changed"),
    ):
        stubs.write_all(archive, arch, tmp_path / "lib")
    with pytest.raises(ToolError, match="has no index"):
        stubs.import_library_symbols(b"MZ")
