"""What importing the package and calling its entry point import, in an interpreter that has imported little else."""

from __future__ import annotations

import importlib
import sys

# torch itself has imported these before it calls its extensions, so they cost us nothing.
for _name in (
    *("__future__", "ctypes", "functools", "importlib.metadata", "importlib.util"),
    *("json", "re", "struct", "threading", "typing"),
):
    importlib.import_module(_name)


def of_the_package() -> list[str]:
    before = set(sys.modules)
    import dlx_torch_ext  # noqa: F401

    return sorted(set(sys.modules) - before)


def of_the_entry_point() -> list[str]:
    before = set(sys.modules)
    import dlx_torch_ext_autoload

    dlx_torch_ext_autoload.__repr__()
    return sorted(set(sys.modules) - before)


def of_the_entry_point_on_a_torch(own_table: bool) -> list[str]:
    """On a fake torch. What that imports comes first and is not counted."""
    from tests.support import fake_torch

    torch = fake_torch.torch_with_own_table("2.13.0") if own_table else fake_torch.torch(whole=True)
    sys.modules["torch"] = torch
    for name in list(sys.modules):
        if name.startswith("dlx_torch_ext"):
            del sys.modules[name]
    return of_the_entry_point()


def of_attaching() -> list[str]:
    """All modules that are loaded after the entry point and what it attaches with have been imported."""
    import dlx_torch_ext._attach
    import dlx_torch_ext._autoload  # noqa: F401

    return sorted(sys.modules)


def use_without_torch(use: str) -> str:
    """`use` is a public name, with "()" if it is to be called."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # makes `import torch` fail
    import dlx_torch_ext

    value = getattr(dlx_torch_ext, use.removesuffix("()"))
    return str(value() if use.endswith("()") else value)


def provider_and_reason_on_another_python() -> list[str]:
    """On an implementation of Python that has no C interface."""
    import ctypes

    del ctypes.pythonapi
    sys.implementation.name = "pypy"
    from tests.support import fake_torch

    sys.modules["torch"] = fake_torch.torch()
    import dlx_torch_ext

    return [dlx_torch_ext.attach().provider, dlx_torch_ext.status().reason]
