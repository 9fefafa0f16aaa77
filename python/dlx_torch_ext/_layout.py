"""Checks that tensors of this torch have the memory layout of its release line. Only reads, and calls no library.

This check comes first, because a library that was compiled for another layout does not fail: it corrupts memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

# A tensor object is PyObject and then, up to torch 2.9, one word and a MaybeOwned<Tensor>; since 2.10 it is a Tensor.
# For each: the bytes behind PyObject, and the offset of the TensorImpl pointer in them.
_FIRST_LINE_WITH_TENSOR = (2, 10)
_LAYOUT_WITH_MAYBE_OWNED = (32, 8)
_LAYOUT_WITH_TENSOR = (24, 0)


def problem(torch: Any, line: tuple[int, int]) -> str:
    """Why tensors of `torch` do not have the layout of this release line, or "". Never raises."""
    release = ".".join(map(str, line))
    try:
        found = _layout_problem(torch, line, release)
    except Exception as error:
        found = f"the memory layout of tensors cannot be checked ({type(error).__name__}: {error})"
    return f"{found}: install a release of torch {release}" if found else ""


def _layout_problem(torch: Any, line: tuple[int, int], release: str) -> str:
    size, offset = _LAYOUT_WITH_TENSOR if line >= _FIRST_LINE_WITH_TENSOR else _LAYOUT_WITH_MAYBE_OWNED
    found = torch._C.TensorBase.__basicsize__ - object.__basicsize__
    if found != size:
        return f"tensors of this torch have {found} bytes behind PyObject, those of torch {release} have {size}"
    if _tensor_class_of_libtorch(torch) != id(torch.Tensor):
        return "THPVariableClass in the loaded libtorch_python does not point to torch.Tensor"
    with plain_tensors(torch):
        tensor = torch.empty(1, device="cpu")
        expected = tensor._cdata
    offset += object.__basicsize__
    if ctypes.c_void_p.from_address(id(tensor) + offset).value != expected:
        return f"tensors of this torch do not have the pointer to their TensorImpl at byte {offset}"
    return ""


def _tensor_class_of_libtorch(torch: Any) -> int | None:
    """The address of the class that THPVariableClass, a variable of libtorch_python, points to.

    On Linux and macOS the loader also searches the libraries that torch._C depends on. So this finds the
    libtorch_python that is in use, wherever a distribution has put it.
    """
    library, name = torch._C.__file__, "THPVariableClass"
    if sys.platform == "win32":  # it does not search them, and decorates the names of C++ variables
        library = os.path.join(os.path.dirname(torch.__file__), "lib", "torch_python.dll")
        name = "?THPVariableClass@@3PEAU_object@@EA"
    return ctypes.c_void_p.in_dll(ctypes.PyDLL(library), name).value


@contextlib.contextmanager
def plain_tensors(torch: Any) -> Iterator[None]:
    """Tensors that are made inside the block are plain ones, and what is done with them runs as it is written, even if
    the caller uses a mode of torch, a default device, a torch.func transform or torch.compile."""
    with contextlib.ExitStack() as stack:
        # torch.compile would trace the functions that are called inside, and cannot while the guards below are set.
        compiler = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
        compile_by = getattr(compiler, "set_eval_frame", None)
        if compile_by is not None:
            stack.callback(compile_by, compile_by(None))
        for guard in ("DisableTorchFunction", "_DisableTorchDispatch", "_DisableFuncTorch"):
            if hasattr(torch._C, guard):
                stack.enter_context(getattr(torch._C, guard)())
        yield
