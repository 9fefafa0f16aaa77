"""A row for an imaginary torch, added to variants.toml and nowhere else, reaches everything that follows the matrix."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dlx_torch_ext._variants import read_manifest

from tools import matrix
from tools.docs import compatibility

ROW = "torch2_99_cxx11"


def variants_py(checkout: Path, *arguments: str) -> str:
    command = [sys.executable, str(checkout / "cmake" / "variants.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


class TestTheRow:
    def test_cmake_builds_it(self, imaginary: Path) -> None:
        rows = json.loads(variants_py(imaginary, "cmake", "Linux", "x86_64"))["rows"]
        values = {"torch": "2.99", "cxx11_abi": 1, "std": 23, "sdk": "2.99.1", "backends": ["cpu", "cuda", "rocm"]}
        assert rows[-1] == {"name": ROW, **values}

    def test_the_configure_step_asks_for_its_sdk(self, imaginary: Path, tmp_path: Path) -> None:
        places = (str(Path(sys.executable).parent), os.environ.get("DLX_TEST_BUILD_TOOLS", ""), os.environ["PATH"])
        path = os.pathsep.join(filter(None, places))
        cmake = shutil.which("cmake", path=path)
        if not cmake or not shutil.which("ninja", path=path):
            pytest.skip("cmake and ninja are not here; ./dev test brings them")
        header = tmp_path / "include" / "dlpack" / "dlpack.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define DLPACK_MAJOR_VERSION 1\n#define DLPACK_MINOR_VERSION 3\n")
        settings = {
            "DLX_TORCH_ROWS": ROW,
            "DLX_TORCH_SDK_DIR": str(tmp_path / "sdk"),
            "DLX_DLPACK_INCLUDE_DIR": str(header.parents[1]),
            "Python3_EXECUTABLE": sys.executable,
        }
        command = [cmake, "-G", "Ninja", "-S", str(imaginary), "-B", str(tmp_path / "build")]
        command += [f"-D{name}={value}" for name, value in settings.items()]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "PATH": path}
        )
        assert done.returncode != 0
        said = " ".join(done.stderr.split())
        assert f"no SDK of torch 2.99.1 in {tmp_path / 'sdk'}: ./dev sdk 2.99.1" in said, done.stderr

    def test_the_manifest_names_its_library(self, imaginary: Path, tmp_path: Path) -> None:
        library = tmp_path / "_lib" / ROW / "libdlx_torch_cpu.so"
        library.parent.mkdir(parents=True)
        library.write_bytes(b"")
        variants_py(imaginary, "manifest", str(tmp_path / "_lib"), "0.1.0", "linux-x86_64")
        found = read_manifest([str(tmp_path)])
        assert [(v.torch, v.cxx11_abi, v.backend, v.serves, v.path) for v in found.variants] == [
            ("2.99", True, "cpu", "prefer", str(library))
        ]

    def test_the_audit_expects_its_libraries(self, imaginary: Path) -> None:
        files = matrix.read(imaginary / "variants.toml").files("linux-x86_64")
        assert [backend for row, backend in files if row == ROW] == ["cpu", "cuda", "rocm"]

    def test_the_tables_show_it(self, imaginary: Path) -> None:
        stated = matrix.read(imaginary / "variants.toml")
        *_, before, line, newer = compatibility.by_release(stated)
        assert line == ["2.99", *before[1:]]  # a row of its own: what lies between has no library
        assert newer[0] == "newer"
        assert compatibility.by_row(stated)[-2] == [
            *("2.99", "1", "2.99.1", "23", "3.12-3.17"),
            *("on request", "on request", "on request", "overlay"),
        ]

    def test_ci_tests_it(self, imaginary: Path) -> None:
        tested = matrix.tested(matrix.read(imaginary / "variants.toml"))
        assert [it for it in tested if it["torch"] == "2.99.1"] == [{"torch": "2.99.1", "python": "3.13"}]


def test_without_the_row_there_is_none_of_it(checkout: Path) -> None:
    assert "2_99" not in variants_py(checkout, "cmake", "Linux", "x86_64")
    stated = matrix.read(checkout / "variants.toml")
    assert "2.99" not in str([matrix.tested(stated), compatibility.by_release(stated), compatibility.by_row(stated)])
