"""What importing torch and torch_npu does, in this order or the other. For new interpreters."""

from __future__ import annotations

import importlib


def import_in_order_and_attach(names: list[str]) -> list[str]:
    """The provider, and the backend at the end of the variant's name."""
    for name in names:
        importlib.import_module(name)
    import dlx_torch_ext

    provider = dlx_torch_ext.attach().provider
    return [provider, (dlx_torch_ext.status().variant or "").split("-")[-1]]


def provider_after_import() -> str:
    import dlx_torch_ext
    import torch  # noqa: F401

    return dlx_torch_ext.status().provider


def stream_without_libtorch_npu() -> list[object]:
    import dlx_torch_ext
    import torch

    from tests.support.structs import EXT_DEV
    from tests.support.table import Table, capsule_address

    dlx_torch_ext.attach()
    table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    outcome, _ = table.try_stream(EXT_DEV, 0)
    return [outcome.rc, type(outcome.error).__name__, str(outcome.error)]
