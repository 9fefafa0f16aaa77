"""With torch-c-dlpack-ext installed: both packages and tvm-ffi in one process."""

from __future__ import annotations

from typing import Any


def attach_before_the_peer() -> list[Any]:
    """The providers before and after the peer's import, whether the table is the same, and what tvm-ffi echoes."""
    import dlx_torch_ext
    import torch

    before = dlx_torch_ext.attach()
    table = torch.Tensor.__dlpack_c_exchange_api__
    import tvm_ffi

    echo = tvm_ffi.get_global_func("testing.echo")
    import torch_c_dlpack_ext  # noqa: F401

    after = dlx_torch_ext.status()
    same = torch.Tensor.__dlpack_c_exchange_api__ is table
    return [before.provider, after.provider, same, echo(torch.arange(3)).tolist()]
