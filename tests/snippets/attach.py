"""Attaching to the torch of this interpreter, or to one that says of itself that it was built for another backend."""

from __future__ import annotations

from typing import Any, NoReturn


def pretend_built_for(backend: str) -> None:
    """Before this package looks: torch says that it was built for `cpu` or `rocm`, or torch_npu is imported."""
    import torch

    if backend == "cpu":
        torch.version.cuda = torch.version.hip = None
        torch._C._has_cuda = False
    elif backend == "rocm":
        torch.version.cuda, torch.version.hip = None, "6.2.41133"
    elif backend == "torch_npu":
        import torch_npu  # noqa: F401


def attach(backend: str) -> dict[str, str | None]:
    """What is attached on a torch that pretends to be built for `backend`, and what the self-test says of it."""
    pretend_built_for(backend)
    import dlx_torch_ext
    import torch
    from dlx_torch_ext._selftest import problem

    from tests.support.table import capsule_address

    status = dlx_torch_ext.attach()
    table = capsule_address(torch.Tensor.__dlpack_c_exchange_api__)
    return {
        "provider": status.provider,
        "backend": status.backend,
        "library": status.library or "",
        "reason": status.reason,
        "self-test": problem(torch, table, ours=status.provider == "dlx") or "passed",
    }


def provider_and_reason(backend: str) -> list[str]:
    """Of `attach()`, which may have no table."""
    pretend_built_for(backend)
    import dlx_torch_ext

    status = dlx_torch_ext.attach()
    return [status.provider, status.reason]


def attach_what_was_built() -> list[str | None]:
    """Provider, variant and library, and what is wrong: by the self-test, or by the reason if it is not our table."""
    import dlx_torch_ext
    import torch
    from dlx_torch_ext import _capsule, _selftest

    status = dlx_torch_ext.attach()
    problem = status.reason
    if status.provider == "dlx":
        problem = _selftest.problem(torch, _capsule.table_on(torch), ours=True)
    return [status.provider, status.variant, status.library, problem]


def attach_while_compiling() -> list[str]:
    """The providers, each time that torch.compile runs or traces a function which attaches."""
    import dlx_torch_ext
    import torch

    seen = []

    def function(x: Any) -> Any:
        dlx_torch_ext.detach()
        seen.append(dlx_torch_ext.attach(prefer="dlx").provider)
        return x * 1

    torch.compile(function, backend="eager")(torch.ones(3))
    return seen


def doctor(*options: str) -> NoReturn:
    """`dlx-torch doctor`, after attaching: torch 2.4 calls no extension when it is imported."""
    import dlx_torch_ext
    import torch  # noqa: F401
    from dlx_torch_ext._cli import main

    dlx_torch_ext.attach()
    raise SystemExit(main(["doctor", *options]))
