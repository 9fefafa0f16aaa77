"""Tells whether tvm-ffi has already met a tensor: it asks a type for its table once, and never again on that thread."""

from __future__ import annotations

import os
import sys
from typing import Any

from ._layout import plain_tensors

TOO_LATE_WARNING = (
    "dlx-torch-ext attached its table after tvm-ffi had seen a torch.Tensor; tvm-ffi keeps what it found then and"
    " ignores the table: call dlx_torch_ext.attach() right after `import torch`, before tvm-ffi gets a tensor"
)


def ignores_our_table(torch: Any) -> bool:
    """Whether tvm-ffi goes another way than through our table, just attached, on this thread. Any doubt is a no.

    A conjugate view is refused by our table in words of our own, while the other ways let it pass or fail in other
    words.
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
