"""A simulated CUDA: NVIDIA's libraries replaced by small ones of our own, for any CUDA build of torch."""

from __future__ import annotations

import os
from pathlib import Path

from tests.simulators.cuda.generate import build
from tests.simulators.vendor import default_cache, installed, prepend

__all__ = ["build", "environment", "installed_torch"]


def installed_torch() -> Path:
    """Return the package folder of this interpreter's torch, without importing it."""
    return installed("torch")


def environment(torch_dir: Path | None = None, cache: Path | None = None) -> dict[str, str]:
    """Return this process's environment, changed so that a child process sees the simulated CUDA.

    `torch_dir` is a torch package folder, this interpreter's by default; `cache` is where built libraries are kept.
    Raises ValueError for a torch that is not a CUDA build.
    """
    torch_dir = torch_dir or installed_torch()
    folder = build(torch_dir, cache or default_cache("cuda"))
    env = {**os.environ, "LD_LIBRARY_PATH": prepend([folder], "LD_LIBRARY_PATH", ":", os.environ)}
    if (torch_dir.parent / "nvidia").is_dir():
        # torch may open NVIDIA's own libraries by path: the ones already in the process, by the same names, go first.
        env["LD_PRELOAD"] = prepend(sorted(folder.iterdir()), "LD_PRELOAD", " ", os.environ)
    return env
