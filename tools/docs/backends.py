"""Which backend is chosen, over every combination of what torch was built for, what this process has loaded and what
stands in for torch.cuda: ./dev backends prints it, and docs/design.md has it.

Every cell is what the package itself decides, about a torch with these facts.
"""

from __future__ import annotations

import argparse
import types
from collections.abc import Iterator
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table as Screen

from tools.docs.compatibility import Table
from tools.matrix import Matrix

# After tools.matrix: importing it makes the package importable where it is not installed.
from dlx_torch_ext import _accelerator, _facts, _resolve  # isort: skip

COLUMNS = ["built for", "torch_npu", "CUDA/ROCm device", "backend", "transfer_to_npu"]
_TORCH_NPU = ("not installed", "installed", "loaded")
_NO_NAME = types.SimpleNamespace(cuda=None, hip=None)
_VERSIONS = {
    "cpu": _NO_NAME,
    "cuda": types.SimpleNamespace(cuda="12.8", hip=None),
    "rocm": types.SimpleNamespace(cuda=None, hip="6.4"),
}


def main(options: argparse.Namespace) -> int:
    screen = Screen(title="The chosen backend")
    titles, *rows = by_facts()
    for title in titles:
        screen.add_column(title)
    for row in rows:
        screen.add_row(*row)
    Console().print(screen)
    return 0


def by_facts(_: Matrix | None = None) -> Table:
    """A row for each build, state of torch_npu and count of devices; a column without and one with the shim."""
    return [COLUMNS, *_rows()]


def _rows() -> Iterator[list[str]]:
    for build in _VERSIONS:
        for torch_npu in _TORCH_NPU:
            for devices in (0, 1) if build != "cpu" else (0,):
                # The shim is a part of torch_npu, so it is there only where that is.
                shims = (False, True) if torch_npu == "loaded" else (False,)
                chosen = [_backend(build, torch_npu, devices, shim=shim) for shim in shims]
                there = "-" if build == "cpu" else "yes" if devices else "no"
                yield [build, torch_npu, there, *chosen, *["-"] * (2 - len(chosen))]


def _backend(build: str, torch_npu: str, devices: int, *, shim: bool) -> str:
    available = shim or devices > 0
    torch: Any = types.SimpleNamespace(
        __version__="2.9.1",
        Tensor=type("Tensor", (), {}),
        version=_VERSIONS[build],
        cuda=types.SimpleNamespace(is_available=lambda: available),
        _C=types.SimpleNamespace(_cuda_getDeviceCount=lambda: devices),
    )
    version = None if torch_npu == "not installed" else "2.9.1"
    with mock.patch.object(_accelerator, "is_loaded", return_value=torch_npu == "loaded"):
        return _resolve.wanted_backend(_facts.read(torch).replace(torch_npu=version, system="linux"))
