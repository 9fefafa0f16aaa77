"""Decides what can exist on this interpreter's torch. Nothing is skipped: what cannot exist is not collected."""

from __future__ import annotations

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """The contract is asked of our table: a torch that has one of its own keeps it, unless this run says otherwise."""
    if collection_path.name == "contract" and TORCH >= (2, 10) and "DLX_TEST_TABLE" not in os.environ:
        return True
    if collection_path.name.startswith("test_cuda_"):
        import torch

        return not torch.version.cuda or None
    if collection_path.name == "test_beside_the_peer.py":
        return find_spec("torch_c_dlpack_ext") is None or None
    # A sanitizer keeps what is freed for a while: a resident size says nothing there.
    if collection_path.name == "test_leaks.py" and "DLX_TORCH_TEST_SANITIZED" in os.environ:
        return True
    return None
