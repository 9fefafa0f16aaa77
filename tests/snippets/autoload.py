"""What `import torch` alone does, and what attaching and detaching do after it."""

from __future__ import annotations

import ctypes
import sys
import warnings
from typing import Any

from tests.simulators.cuda import recorder


def on_tensor_class() -> dict[str, Any]:
    """What torch.Tensor has for consumers: the capsule with its table, and the integer of tvm-ffi's first releases."""
    import torch

    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    legacy = getattr(torch.Tensor, "__c_dlpack_exchange_api__", None)
    if capsule is None:
        return {"capsule": None, "legacy": legacy}

    from tests.support.structs import DLPackExchangeAPI
    from tests.support.table import capsule_address

    address = capsule_address(capsule)
    return {
        "capsule": [id(capsule), repr(capsule).split(" at ")[0]],
        "address": address,
        "bytes": ctypes.string_at(address, ctypes.sizeof(DLPackExchangeAPI)).hex(),
        "legacy": legacy,
        "own": "__dlpack_c_exchange_api__" in vars(torch.Tensor),
    }


def status() -> dict[str, Any]:
    import dlx_torch_ext

    now = dlx_torch_ext.status()
    return {name: getattr(now, name) for name in ("provider", "variant", "library", "backend", "reason")}


def import_torch() -> dict[str, Any]:
    """What is there after `import torch` and before anything else."""
    import torch

    calls = recorder.calls() if recorder.simulated() else []
    imported = sorted(name for name in sys.modules if name.split(".")[0] in ("dlx_torch_ext", "tvm_ffi"))
    fork_is_safe = not (torch.version.cuda and torch.cuda._is_in_bad_fork()) and not torch.cuda.is_initialized()
    return {"first": on_tensor_class(), "imported": imported, "fork_is_safe": fork_is_safe, "device_calls": calls}


def attach_and_look() -> list[Any]:
    import dlx_torch_ext

    return [dlx_torch_ext.attach().provider, on_tensor_class()]


def status_and_look() -> list[Any]:
    return [status()["provider"], on_tensor_class()]


def whole_life() -> dict[str, Any]:
    """Import torch, attach, attach again, import tvm-ffi, detach, attach: one process shows all of it."""
    seen = import_torch()
    import dlx_torch_ext
    import torch

    if recorder.simulated():
        recorder.reset()
    seen["status"] = status()
    seen["attached"] = attach_and_look()
    seen["attached_status"] = status()
    seen["device_calls_after"] = recorder.calls() if recorder.simulated() else []
    seen["again"] = attach_and_look()
    import tvm_ffi

    seen["tvm_ffi"] = status_and_look()
    dlx_torch_ext.detach()
    seen["detached"] = status_and_look()
    dlx_torch_ext.detach()
    seen["attached_after_detach"] = attach_and_look()
    tensor = torch.arange(3)
    seen["round_trip"] = torch.equal(torch.from_dlpack(tvm_ffi.from_dlpack(tensor)), tensor)
    return seen


def import_then_attach() -> dict[str, Any]:
    seen = import_torch()
    seen["status"] = status()
    seen["attached"], seen["after"] = attach_and_look()
    return seen


def torchs_own_table() -> list[Any]:
    import torch

    return [on_tensor_class(), torch._C._dlpack_exchange_api() is not None]


def attach_after_tvm_ffi() -> list[list[Any]]:
    """Twice: the provider, and the warnings with their category."""
    import torch

    # tvm-ffi compiles a table when it is imported and finds none. The attribute keeps it from that.
    torch.Tensor.__dlpack_c_exchange_api__ = None
    import tvm_ffi

    del torch.Tensor.__dlpack_c_exchange_api__
    tvm_ffi.get_global_func("testing.echo")(torch.ones(1))
    import dlx_torch_ext

    attempts = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            provider = dlx_torch_ext.attach().provider
        attempts.append([provider, [[one.category.__name__, str(one.message)] for one in caught]])
        dlx_torch_ext.detach()
    return attempts


def attach_inside_transforms() -> list[str]:
    import dlx_torch_ext
    import torch

    providers = []

    def attach(x: Any) -> Any:
        dlx_torch_ext.detach()
        providers.append(dlx_torch_ext.attach().provider)
        return x.sum()

    torch.func.grad(attach)(torch.ones(3))
    torch.vmap(attach)(torch.ones(2, 3))
    torch.func.functionalize(attach)(torch.ones(3))
    return providers
