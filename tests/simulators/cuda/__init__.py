"""A simulated CUDA: NVIDIA's libraries replaced by small ones of our own, for any CUDA build of torch."""

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
    env = {**os.environ, "LD_LIBRARY_PATH": _first([folder], "LD_LIBRARY_PATH", ":")}
    if (torch_dir.parent / "nvidia").is_dir():
        # torch may open NVIDIA's own libraries by path: the ones already in the process, by the same names, go first.
        env["LD_PRELOAD"] = _first(sorted(folder.iterdir()), "LD_PRELOAD", " ")
    return env


def _first(paths: list[Path], variable: str, separator: str) -> str:
    """Return the paths, followed by what the variable holds already."""
    return separator.join([*map(str, paths), *filter(None, [os.environ.get(variable)])])
