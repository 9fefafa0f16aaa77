"""A simulated Ascend: CANN's libraries replaced by small ones of our own, for any release of torch_npu."""

from __future__ import annotations

import os
from pathlib import Path

from tests.simulators import cuda
from tests.simulators.ascend.generate import build
from tests.simulators.vendor import default_cache, installed, prepend, version_strings

__all__ = ["build", "environment"]


def environment(torch_dir: Path | None = None, torch_npu_dir: Path | None = None) -> dict[str, str]:
    """Return this process's environment, changed so that a child process sees the simulated Ascend.

    The arguments are package folders, this interpreter's by default. A CUDA build of torch gets the simulated CUDA too,
    without devices, since torch_npu refuses to be the second accelerator. Raises ValueError where either is missing.
    """
    torch_dir = torch_dir or installed("torch")
    folder = build(torch_npu_dir or installed("torch_npu"), default_cache("ascend"))
    env = dict(os.environ)
    if "cuda" in version_strings(torch_dir):
        env = {**cuda.environment(torch_dir), "DLX_SIM_CUDA_DEVICES": "0"}
    env["LD_LIBRARY_PATH"] = prepend([folder], "LD_LIBRARY_PATH", ":", env)
    return env
