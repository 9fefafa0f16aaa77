"""The tests of one of the examples, with a table on torch.Tensor or with none, whatever torch brings along."""

from __future__ import annotations

from typing import Any


def run(table: bool, module: str, *words: str) -> dict[str, Any]:
    """pytest's exit status, whose table torch.Tensor had, and which file was tested."""
    import sys

    import dlx_torch_ext
    import pytest
    import torch

    if table:
        provider = dlx_torch_ext.attach().provider  # torch 2.4 does not ask packages whether they want to be attached
    else:
        provider = "none"
        for name in ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"):
            if hasattr(torch.Tensor, name):
                delattr(torch.Tensor, name)
    assert hasattr(torch.Tensor, "__dlpack_c_exchange_api__") == table
    status = pytest.main(list(words))
    return {"status": int(status), "provider": provider, "file": sys.modules[module].__file__}
