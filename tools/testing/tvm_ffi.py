"""The tests of apache-tvm-ffi itself that use torch, with our table: ./dev test --tvm-ffi.

They are in the sdist of the release, and are run as they are. None of tvm-ffi's code is in this repository.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.settings import ToolError, dev_dir, locked, run, uv_environment
from tools.testing import environments, plan
from tools.testing.run import THIS_PYTHON, Session

TORCH = "2.9.1"
EXTRAS = (plan.TVM_FFI, "ninja")  # the tests compile small libraries
# It compiles the table that tvm-ffi brings where there is none, for ten minutes, and uses no other.
OTHER_TABLE = "test_optional_torch_c_dlpack.py"


def session(source: Path | None) -> Session:
    """The session with the tests in `source`, a folder with tvm-ffi's repository; without it, in the sdist of the
    release that is installed in the session's environment, which is downloaded once."""
    python = environments.python_for(TORCH, THIS_PYTHON)
    version = _installed(environments.get_or_create(python, TORCH, *EXTRAS).folder)
    source = source.resolve() if source else _sdist(version)
    # The simulated CUDA runs no kernel, and tvm-ffi's tests for devices need some.
    variables = {"DLX_SIM_CUDA_DEVICES": "0", "TVM_FFI_CACHE_DIR": str(dev_dir() / "tvm-ffi" / "cache")}
    arguments = ("-o", "addopts=")  # tvm-ffi's own ask for a plugin
    name = f"tests of tvm-ffi {version}, torch {TORCH}"
    return Session(
        name, using_torch(source), TORCH, python, EXTRAS, arguments=arguments, folder=source, variables=variables
    )


def using_torch(source: Path) -> tuple[str, ...]:
    """The files of tests that name torch."""
    files = [file for file in sorted(source.glob("tests/python/test_*.py")) if file.name != OTHER_TABLE]
    found = tuple(str(file.relative_to(source)) for file in files if re.search(r"\btorch\b", file.read_text("utf-8")))
    if not found:
        raise ToolError(f"{source} has no tests/python/test_*.py that names torch: give tvm-ffi's repository or sdist")
    return found


def _installed(environment: Path) -> str:
    (metadata,) = environment.glob("lib/python*/site-packages/apache_tvm_ffi-*.dist-info")
    return metadata.name[len("apache_tvm_ffi-") : -len(".dist-info")]


def _sdist(version: str) -> Path:
    folder = dev_dir() / "tvm-ffi" / version
    with locked(folder.with_name(f"{version}.lock")):
        if not folder.exists():
            requirement = f"apache-tvm-ffi=={version}"
            with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work]
                command += ["--no-binary", "apache-tvm-ffi", requirement]
                run(command, what=f"downloading the sdist of {requirement}", env=uv_environment())
                (archive,) = Path(work).glob("*.tar.gz")
                with tarfile.open(archive) as opened:
                    opened.extractall(work, filter="data")
                archive.with_name(archive.name.removesuffix(".tar.gz")).rename(folder)
    return folder
