"""The extension of kit.cc, compiled once for all CPythons that have the limited API of 3.10, and loaded."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import dlx_torch_ext

from tests.support.compiled import library

SOURCE = Path(__file__).with_name("kit.cc")
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")
HAS_LIMITED_API = sys.version_info >= (3, 10) and not sysconfig.get_config_var("Py_GIL_DISABLED")
LIMITED = "-DPy_LIMITED_API=0x030A0000"


def includes() -> list[str]:
    return [f"-I{dlx_torch_ext.get_include()}", f"-isystem{sysconfig.get_paths()['include']}"]


def digest() -> str:
    """Of all headers of the kit, so that a change of one compiles again."""
    state = hashlib.sha256()
    for header in sorted(Path(dlx_torch_ext.get_include()).rglob("*.h")):
        state.update(header.read_bytes())
    return state.hexdigest()[:16]


def build(*flags: str, limited: bool = HAS_LIMITED_API) -> Path:
    api = [LIMITED] if limited else []
    if sanitizers := os.environ.get("DLX_TORCH_TEST_SANITIZED"):  # as ./dev test --sanitize does with our library
        api += [f"-fsanitize={sanitizers}", "-fno-sanitize=vptr", "-fno-omit-frame-pointer", "-g"]
    return library(SOURCE, "-std=c++17", *WARNINGS, *api, *includes(), f"-DHEADERS_{digest()}", *flags)


def load(file: Path, name: str = "kit") -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def kit() -> Any:
    return load(build())
