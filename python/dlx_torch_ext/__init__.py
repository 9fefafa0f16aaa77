"""The DLPack C exchange API for every PyTorch, with the right stream on every accelerator.

From torch 2.5 on `import torch` attaches by itself; `attach()` does it by hand. Importing this imports no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._api import AttachError, attach, detach, resolve, status
    from ._facts import Facts, detect_backend
    from ._resolve import Accepted, Candidate, Rejected, Resolution
    from ._status import Status

    __version__: str

# Where each public name lives. They are imported when first asked for: the entry point that torch calls at every
# `import torch` lives in this package too, and pays for nothing it does not use.
_MODULE_OF = {
    "Accepted": "_resolve",
    "AttachError": "_api",
    "Candidate": "_resolve",
    "Facts": "_facts",
    "Rejected": "_resolve",
    "Resolution": "_resolve",
    "Status": "_status",
    "attach": "_api",
    "detach": "_api",
    "detect_backend": "_facts",
    "resolve": "_api",
    "status": "_api",
}

__all__ = [
    "Accepted",
    "AttachError",
    "Candidate",
    "Facts",
    "Rejected",
    "Resolution",
    "Status",
    "__version__",
    "attach",
    "detach",
    "detect_backend",
    "resolve",
    "status",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _MODULE_OF:
        from importlib import import_module

        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dlx-torch-ext")
    except PackageNotFoundError:  # run from a source tree that nobody installed
        return "0+unknown"
