"""A package that torch calls through the entry point torch.backends, as out-of-tree backends have one: installed into a
folder, with a library beside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Bundles our overlay and uses its C interface alone: no Python of dlx_torch_ext. docs/c.md explains each step.
OVERLAY = """
import ctypes, pathlib, torch, torch_npu

def capsule_of(pointer):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer, b"dlpack_exchange_api", None)

def pointer_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, b"dlpack_exchange_api")

def attach():
    (library,) = pathlib.Path(__file__).parent.glob("*.so")
    overlay = ctypes.PyDLL(str(library)).dlx_torch_overlay
    overlay.restype, overlay.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    table = overlay(pointer_of(torch.Tensor.__dlpack_c_exchange_api__))
    if table:
        torch.Tensor.__dlpack_c_exchange_api__ = capsule_of(table)
"""

# Puts a table of a library of its own over ours or torch's, as torch_npu might; `{over_ours}` says over which.
TORCH_NPU = """
import ctypes, pathlib, torch, torch_npu, dlx_torch_ext
from dlx_torch_ext._capsule import make_capsule, table_address

def attach():
    if {over_ours}:
        dlx_torch_ext.attach()
    else:
        dlx_torch_ext.detach()
    table = table_address(torch.Tensor.__dlpack_c_exchange_api__)
    dlx_torch_ext.detach()
    (library,) = pathlib.Path(__file__).parent.glob("*.so")
    table_over = ctypes.PyDLL(str(library)).table_over
    table_over.restype, table_over.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    torch.Tensor.__dlpack_c_exchange_api__ = make_capsule(table_over(table))
"""


def install(folder: Path, source: str, library: Path, name: str) -> dict[str, str]:
    """Installs the package with a copy of the library under that name, and returns the environment that finds it."""
    package, metadata = folder / "small_backend", folder / "small_backend-1.0.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    (package / "__init__.py").write_text(source)
    shutil.copy(library, package / name)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: small-backend\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[torch.backends]\nsmall_backend = small_backend:attach\n")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))}
