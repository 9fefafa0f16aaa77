"""Builds a project of examples/ with CMake, as pip would: once, until its files or the headers change."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import dlx_torch_ext

from tests.snippets import example_tests
from tests.support import kit
from tests.support.compiled import scratch
from tests.support.process import spawn
from tests.support.process.finished import ROOT, Finished

EXAMPLES = ROOT / "examples"
# The modules of Python that a project is built with, and what says where their CMake files are.
BUILT_WITH: dict[str, dict[str, tuple[str, ...]]] = {
    "c": {},
    "cuda": {},
    "cython": {"cython": ()},
    "nanobind": {"nanobind": ("-m", "nanobind", "--cmake_dir")},
    "pybind11": {"pybind11": ("-m", "pybind11", "--cmakedir")},
    "tvm_ffi": {"tvm_ffi": ("-m", "tvm_ffi.config", "--cmakedir")},
}


# One binary for every CPython from 3.10 on: it is built by the first session that asks, and the others get that file.
LIMITED_API = {"c", "cuda"}
WITHOUT_TABLE = {"DLX_TORCH_DISABLE": "1", "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}


def missing(name: str) -> list[str]:
    return [module for module in BUILT_WITH[name] if importlib.util.find_spec(module) is None]


@functools.cache
def build(name: str) -> Path:
    """The folder that has what the project installs, for PYTHONPATH. Not for a GPU: CUDA's kernels become loops."""
    source = EXAMPLES / name
    files = sorted(file for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    python = "" if name in LIMITED_API else sys.version_info[:2]
    state = hashlib.sha256(f"{python} {kit.digest()}".encode())
    for file in files:
        state.update(str(file.relative_to(source)).encode() + b"\0" + file.read_bytes())
    made = scratch() / f"example-{name}-{state.hexdigest()[:16]}"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=scratch()) as folder:
            new = Path(folder, "installed")
            _configure_and_install(name, Path(folder, "build"), new)
            for package in source.glob("dlx_example_*"):
                shutil.copytree(package, new / package.name, dirs_exist_ok=True)
            try:
                new.replace(made)
            except OSError:  # another session was quicker: its binary is the one
                if not made.exists():
                    raise
    return made


def _configure_and_install(name: str, build_folder: Path, prefix: Path) -> None:
    path = os.pathsep.join(filter(None, [os.environ.get("DLX_TEST_BUILD_TOOLS"), os.environ.get("PATH")]))
    found = {
        module: subprocess.run([sys.executable, *asked], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
        for module, asked in BUILT_WITH[name].items()
        if asked
    }
    defines = {
        "CMAKE_BUILD_TYPE": "Release",
        "Python_EXECUTABLE": sys.executable,
        "WITHOUT_NVCC": "ON",
        "dlx_torch_ext_DIR": dlx_torch_ext.get_cmake_dir(),
        **{f"{module}_DIR": folder for module, folder in found.items()},
    }
    words = [f"-D{key}={value}" for key, value in defines.items()]
    configure = ["cmake", "-G", "Ninja", "-S", str(EXAMPLES / name), "-B", str(build_folder), "--no-warn-unused-cli"]
    for command in (
        [*configure, *words],
        ["cmake", "--build", str(build_folder)],
        ["cmake", "--install", str(build_folder), "--prefix", str(prefix)],
    ):
        done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def run_its_tests(name: str, table: bool) -> Finished:
    """pytest on the project's own tests, in a process of its own that does not see this repository's settings."""
    path = os.pathsep.join(filter(None, [str(build(name)), os.environ.get("PYTHONPATH")]))
    words = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(EXAMPLES / name)]
    environment = {**({} if table else WITHOUT_TABLE), "PYTHONPATH": path}
    tests = str(EXAMPLES / name / "tests")
    return spawn.run(example_tests.run, table, f"dlx_example_{name}", *words, tests, env=environment)
