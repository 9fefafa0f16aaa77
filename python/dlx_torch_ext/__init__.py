"""The DLPack C exchange API for every PyTorch, with the right stream on every accelerator.

`import torch` attaches by itself from torch 2.5 on; `attach()` does it by hand. Importing this package imports no
torch.
"""

from __future__ import annotations

from typing import Any

from ._attach import AttachError, attach, detach, resolve, status
from ._facts import Facts, detect_backend
from ._resolve import Accepted, Candidate, Rejected, Resolution
from ._status import Status

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
    # Read on demand: the installation's metadata holds the version, and looking for it takes longer than the import.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("dlx-torch-ext")
        except PackageNotFoundError:  # run from a source tree that nobody installed
            return "0+unknown"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
