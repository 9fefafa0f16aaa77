"""Whether tvm-ffi uses our table: it may have seen a tensor before the table was attached, and it has switches.

tvm-ffi looks for the table of a type only once on each thread, and keeps what it found.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from ._layout import plain_tensors

TOO_LATE_WARNING = (
    "dlx-torch-ext attached its table after tvm-ffi had seen a torch.Tensor, so tvm-ffi ignores the table: call"
    " dlx_torch_ext.attach() right after `import torch`, before tvm-ffi gets a tensor"
)

# With any value but 0, an empty one too, tvm-ffi brings no table of its own when it is imported. It still uses ours.
DISABLE_VARIABLE = "TVM_FFI_DISABLE_TORCH_C_DLPACK"


def installed() -> str:
    """The version of the tvm-ffi that is installed, "" if none is."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("apache-tvm-ffi")
    except PackageNotFoundError:
        return ""


def skip_variable(version: str) -> str:
    """The variable that makes this version of tvm-ffi ignore every table. Only the value 1 does; tvm-ffi reads it when
    it looks for a table."""
    release = [int(part) for part in re.findall(r"\d+", version)[:3]]
    if release and release < [0, 1, 5]:
        return "TVM_FFI_SKIP_C_DLPACK_EXCHANGE_API"
    return "TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API"


def ignores_our_table(torch: Any) -> bool:
    """Whether tvm-ffi, on this thread, does not use the table that we have just attached. False if this cannot be found
    out.

    Gives tvm-ffi a conjugate view. Our table refuses it with an error that begins with "dlx-torch:"; without our table,
    tvm-ffi accepts it or fails with another error.
    """
    module = sys.modules.get("tvm_ffi")
    if module is None or getattr(module.__spec__, "_initializing", False):
        return False
    if os.environ.get(skip_variable(installed())) == "1":
        return False
    try:
        make_array = module.get_global_func("ffi.Array")
        with plain_tensors(torch):
            conjugate = torch.empty(1, dtype=torch.complex64, device="cpu").conj()
            try:
                make_array(conjugate)
            except Exception as error:
                return not str(error).lstrip().startswith("dlx-torch:")
            return True
    except Exception:
        return False
