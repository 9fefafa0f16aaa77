"""Checks that tensors of this torch lie in memory as its release says. Reads only; comes before the first call of a
library.

A library compiled for another layout does not fail, it corrupts memory; so nothing of it runs before this holds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

# What a tensor object holds behind PyObject: a MaybeOwned<Tensor> and a word before it up to 2.9, a Tensor since.
_FIRST_LINE_WITH_TENSOR = (2, 10)
_MAYBE_OWNED = (32, 8)
_TENSOR = (24, 0)


def problem(torch: Any, line: tuple[int, int]) -> str:
    """Why the layout is not the one of torch `line`, or "". Never raises."""
    try:
        return _layout_problem(torch, line)
    except Exception as error:
        return f"the layout of this torch cannot be checked: {type(error).__name__}: {error}"


def _layout_problem(torch: Any, line: tuple[int, int]) -> str:
    size, offset = _TENSOR if line >= _FIRST_LINE_WITH_TENSOR else _MAYBE_OWNED
    found = torch._C.TensorBase.__basicsize__ - object.__basicsize__
    if found != size:
        release = ".".join(map(str, line))
        return f"tensors of this torch have {found} bytes behind PyObject, those of torch {release} have {size}"
    if _tensor_class_of_libtorch(torch) != id(torch.Tensor):
        return "THPVariableClass of the loaded libtorch_python is not torch.Tensor"
    with plain_tensors(torch):
        tensor = torch.empty(1, device="cpu")
    tensor_impl = ctypes.c_void_p.from_address(id(tensor) + object.__basicsize__ + offset).value
    if tensor_impl != tensor._cdata:
        return f"tensors of this torch do not hold their TensorImpl at byte {object.__basicsize__ + offset}"
    return ""


def _tensor_class_of_libtorch(torch: Any) -> int | None:
    """What libtorch_python's THPVariableClass points to. Where the loader searches dependencies, the extension module
    that is loaded already leads to the very library in use, wherever a distribution put it."""
    library, name = torch._C.__file__, "THPVariableClass"
    if sys.platform == "win32":  # where the names of C++ variables are decorated too
        library = os.path.join(os.path.dirname(torch.__file__), "lib", "torch_python.dll")
        name = "?THPVariableClass@@3PEAU_object@@EA"
    return ctypes.c_void_p.in_dll(ctypes.PyDLL(library), name).value


@contextlib.contextmanager
def plain_tensors(torch: Any) -> Iterator[None]:
    """Tensors made inside are plain ones, whatever the caller is in: FakeTensorMode, a default device, a torch.func
    transform."""
    with contextlib.ExitStack() as stack:
        for guard in ("DisableTorchFunction", "_DisableTorchDispatch", "_DisableFuncTorch"):
            if hasattr(torch._C, guard):
                stack.enter_context(getattr(torch._C, guard)())
        yield
