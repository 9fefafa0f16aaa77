"""Finds out whether tvm-ffi saw a tensor before our table was attached.

tvm-ffi looks for the table of a type only once on each thread, and keeps what it found.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ._layout import plain_tensors

TOO_LATE_WARNING = (
    "dlx-torch-ext attached its table after tvm-ffi had seen a torch.Tensor, so tvm-ffi ignores the table: call"
    " dlx_torch_ext.attach() right after `import torch`, before tvm-ffi gets a tensor"
)


def ignores_our_table(torch: Any) -> bool:
    """Whether tvm-ffi, on this thread, does not use the table that we have just attached. False if this cannot be found
    out.

    Gives tvm-ffi a conjugate view. Our table refuses it with an error that begins with "dlx-torch:"; without our table,
    tvm-ffi accepts it or fails with another error.
    """
    module = sys.modules.get("tvm_ffi")
    if module is None or getattr(module.__spec__, "_initializing", False):
        return False
    if os.environ.get("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API") == "1":
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
