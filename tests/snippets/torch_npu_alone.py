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


def backends_with_the_shim(names: list[str]) -> dict[str, object]:
    """Which backend is chosen after these imports, and by each way to ask for it; what a call on an NPU says then."""
    for name in names:
        importlib.import_module(name)
    import dlx_torch_ext
    import torch

    from tests.support.structs import EXT_DEV
    from tests.support.table import Table, capsule_address

    backends = [dlx_torch_ext.attach().backend, dlx_torch_ext.resolve().backend]
    dlx_torch_ext.detach()
    backends += [dlx_torch_ext.resolve().backend, dlx_torch_ext.attach().backend, dlx_torch_ext.status().backend]
    table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    stream = torch.npu.Stream(1)
    with torch.npu.stream(stream):
        same = table.stream(EXT_DEV, 1) == stream.npu_stream
    return {"backends": backends, "stream": same, "cuda": torch.cuda.is_available(), "detected": detected()}


def detected() -> str:
    import dlx_torch_ext
    import torch

    return dlx_torch_ext.detect_backend(torch)


def beside_a_cuda_device() -> list[object]:
    """The backends before and after torch_npu is asked for, and what it answers."""
    import dlx_torch_ext

    before = dlx_torch_ext.attach().backend
    try:
        importlib.import_module("torch_npu")
        answer = ""
    except RuntimeError as error:
        answer = str(error)
    dlx_torch_ext.detach()
    return [before, answer, dlx_torch_ext.attach().backend]


def provider_after_import() -> str:
    import dlx_torch_ext
    import torch  # noqa: F401

    return dlx_torch_ext.status().provider


def table_after_import() -> dict[str, object]:
    """The library that gives the stream after `import torch`, whether that stream is the current one, and whether a
    tensor that went out and came back has the description of torch_npu's own."""
    import torch
    import torch_npu
    from dlx_torch_ext._locate import locate

    from tests.support.structs import EXT_DEV
    from tests.support.table import Table, capsule_address

    table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    tensor, stream = torch.empty(2, 3, device="npu:1"), torch.npu.Stream("npu:1")
    with torch.npu.stream(stream):
        same = table.stream(EXT_DEV, 1) == stream.npu_stream
    back = table.to_torch(table.export(tensor).release())
    formats = [torch_npu.get_npu_format(one) for one in (tensor, back)]
    library = locate(int(table.raw.current_work_stream)).library
    return {"library": library, "stream": same, "format": formats[0] == formats[1]}


def stream_without_libtorch_npu() -> list[object]:
    import dlx_torch_ext
    import torch

    from tests.support.structs import EXT_DEV
    from tests.support.table import Table, capsule_address

    dlx_torch_ext.attach()
    table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    outcome, _ = table.try_stream(EXT_DEV, 0)
    return [outcome.rc, type(outcome.error).__name__, str(outcome.error)]
