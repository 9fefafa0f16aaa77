"""Where the headers for authors of kernels are, and how build systems find them: by the conventions of pybind11."""

from __future__ import annotations

import os

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder for `-I`: it holds dlx/consumer.h and dlpack/dlpack.h. Only a wheel with libraries has it."""
    return os.path.join(_FOLDER, "include")


def get_cmake_dir() -> str:
    """The folder for `-Ddlx_torch_ext_DIR=`: `find_package(dlx_torch_ext)` defines the target dlx::consumer."""
    return os.path.join(_FOLDER, "share", "cmake", "dlx_torch_ext")


def get_pkgconfig_dir() -> str:
    """The folder for PKG_CONFIG_PATH: `pkg-config --cflags dlx_torch_ext`."""
    return os.path.join(_FOLDER, "share", "pkgconfig")
