"""A simulated CUDA: NVIDIA's libraries replaced by small ones of our own, so that a CUDA build of torch runs anywhere."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from tests.simulators.cuda.generate import build

__all__ = ["build", "environment", "installed_torch"]


def installed_torch() -> Path:
    """Return the package folder of this interpreter's torch, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise ValueError("torch is not installed for this interpreter")
    return Path(spec.origin).parent


def environment(torch_dir: Path | None = None, cache: Path | None = None) -> dict[str, str]:
    """Return this process's environment, changed so that a child process sees the simulated CUDA.

    `torch_dir` is a torch package folder, this interpreter's by default; `cache` is where built libraries are kept.
    Raises ValueError for a torch that is not a CUDA build.
    """
    torch_dir = torch_dir or installed_torch()
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    dev = Path(os.environ.get("DLX_DEV_DIR") or Path(user) / "dlx-torch-dev")
    folder = build(torch_dir, cache or dev / "simulated-cuda")
    path = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    env = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(path)}
    if (torch_dir.parent / "nvidia").is_dir():  # NVIDIA's own libraries are here too: ours has to be in the process first
        cudart = next(folder.glob("libcudart.so.*"))
        env["LD_PRELOAD"] = " ".join([str(cudart), *filter(None, [os.environ.get("LD_PRELOAD")])])
    return env
