"""A row for an imaginary torch is added to variants.toml and nowhere else: every reader of variants.toml has it."""

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
    def test_cmake_builds_it(self, with_imaginary_row: Path) -> None:
        rows = json.loads(variants_py(with_imaginary_row, "cmake", "Linux", "x86_64"))["rows"]
        values = {"torch": "2.99", "cxx11_abi": 1, "std": 23, "sdk": "2.99.1", "backends": ["cpu", "cuda", "rocm"]}
        assert rows[-1] == {"name": ROW, **values}

    def test_the_configure_step_asks_for_its_sdk(self, with_imaginary_row: Path, tmp_path: Path) -> None:
        places = (str(Path(sys.executable).parent), os.environ.get("DLX_TEST_BUILD_TOOLS", ""), os.environ["PATH"])
        path = os.pathsep.join(filter(None, places))
        cmake = shutil.which("cmake", path=path)
        if not cmake or not shutil.which("ninja", path=path):
            pytest.skip("cmake and ninja are not on PATH. Run ./dev test, which has them")
        header = tmp_path / "include" / "dlpack" / "dlpack.h"
        header.parent.mkdir(parents=True)
        header.write_text("#define DLPACK_MAJOR_VERSION 1\n#define DLPACK_MINOR_VERSION 3\n")
        settings = {
            "DLX_TORCH_ROWS": ROW,
            "DLX_TORCH_SDK_DIR": str(tmp_path / "sdk"),
            "DLX_DLPACK_INCLUDE_DIR": str(header.parents[1]),
            "Python3_EXECUTABLE": sys.executable,
        }
        command = [cmake, "-G", "Ninja", "-S", str(with_imaginary_row), "-B", str(tmp_path / "build")]
        command += [f"-D{name}={value}" for name, value in settings.items()]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "PATH": path}
        )
        assert done.returncode != 0
        message = " ".join(done.stderr.split())
        assert f"no SDK of torch 2.99.1 in {tmp_path / 'sdk'}: ./dev sdk 2.99.1" in message, done.stderr

    def test_the_manifest_names_its_library(self, with_imaginary_row: Path, tmp_path: Path) -> None:
        library = tmp_path / "_lib" / ROW / "libdlx_torch_cpu.so"
        library.parent.mkdir(parents=True)
        library.write_bytes(b"")
        variants_py(with_imaginary_row, "manifest", str(tmp_path / "_lib"), "0.1.0", "linux-x86_64")
        manifest = read_manifest([str(tmp_path)])
        assert [(v.torch, v.cxx11_abi, v.backend, v.serves, v.path) for v in manifest.variants] == [
            ("2.99", True, "cpu", "prefer", str(library))
        ]

    def test_the_audit_expects_its_libraries(self, with_imaginary_row: Path) -> None:
        files = matrix.read(with_imaginary_row / "variants.toml").files("linux-x86_64")
        assert [backend for row, backend in files if row == ROW] == ["cpu", "cuda", "rocm"]

    def test_the_tables_show_it(self, with_imaginary_row: Path) -> None:
        declared = matrix.read(with_imaginary_row / "variants.toml")
        *_, before, line, newer = compatibility.by_release(declared)
        assert line == ["2.99", *before[1:]]  # not joined with the row before: no library is for the releases between
        assert newer[0] == "newer"
        assert compatibility.by_row(declared)[-2] == [
            *("2.99", "1", "2.99.1", "23", "3.12-3.17"),
            *("on request", "on request", "on request", "overlay"),
        ]

    def test_ci_tests_it(self, with_imaginary_row: Path) -> None:
        tested = matrix.tested(matrix.read(with_imaginary_row / "variants.toml"))
        assert [pair for pair in tested if pair["torch"] == "2.99.1"] == [{"torch": "2.99.1", "python": "3.13"}]


def test_without_the_row_nothing_mentions_it(checkout: Path) -> None:
    assert "2_99" not in variants_py(checkout, "cmake", "Linux", "x86_64")
    declared = matrix.read(checkout / "variants.toml")
    tables = [compatibility.by_release(declared), compatibility.by_row(declared)]
    assert "2.99" not in str([matrix.tested(declared), *tables])
