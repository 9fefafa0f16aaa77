"""With torch-c-dlpack-ext installed: both packages and tvm-ffi in one process."""

from __future__ import annotations

from typing import Any


def conjugate_through_tvm_ffi() -> str:
    """What tvm-ffi says to a conjugate view."""
    import torch
    import tvm_ffi

    try:
        tvm_ffi.get_global_func("ffi.Array")(torch.ones(1, dtype=torch.complex64).conj())
    except BufferError as error:
        return str(error)
    return "accepted"


def attach_after_the_peer() -> dict[str, Any]:
    """With ours kept from attaching at import: the providers, and whether the peer's attributes come back."""
    import dlx_torch_ext
    import torch
    import torch_c_dlpack_ext  # noqa: F401

    def attributes() -> dict[str, Any]:
        return {name: value for name, value in vars(torch.Tensor).items() if "exchange_api" in name}

    theirs = attributes()
    seen: dict[str, Any] = {"default": dlx_torch_ext.attach().provider}
    seen["reason"] = dlx_torch_ext.status().reason
    seen["preferred"] = dlx_torch_ext.attach(prefer="dlx").provider
    seen["same integer"] = attributes().get("__c_dlpack_exchange_api__") == theirs.get("__c_dlpack_exchange_api__")
    seen["conjugate"] = conjugate_through_tvm_ffi()
    dlx_torch_ext.detach()
    seen["detached"] = dlx_torch_ext.status().provider
    seen["restored"] = attributes() == theirs
    return seen


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
