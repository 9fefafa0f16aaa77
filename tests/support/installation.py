"""Installations for tests: a folder with `_lib`, or a copy of the package and a torch.py for a child process."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dlx_torch_ext
from dlx_torch_ext import _autoload
from dlx_torch_ext._facts import Facts, read
from dlx_torch_ext._variants import library_file, row_directory

from tests.support import stub
from tests.support.process import spawn
from tests.support.process.finished import ROOT, Changes, Finished

PLATFORM = read().platform
SYSTEM = read().system


def entry(torch: str | None, cxx11_abi: bool | None, backend: str, serves: str = "default") -> dict[str, Any]:
    """One variant, as in the manifest."""
    row = row_directory(torch, cxx11_abi)
    file = f"{row}/{library_file(backend, SYSTEM)}"
    return {"row": row, "backend": backend, "torch": torch, "cxx11_abi": cxx11_abi, "serves": serves, "file": file}


def matrix(backends: Sequence[str] = ("cpu", "cuda")) -> list[dict[str, Any]]:
    """The rows that serve by default, and one for prefer="dlx"."""
    both = [entry(torch, abi, b) for torch in ("2.4", "2.5", "2.6") for abi in (False, True) for b in backends]
    newer = [entry(torch, True, b) for torch in ("2.7", "2.8", "2.9") for b in backends]
    return both + newer + [entry("2.13", True, b, "prefer") for b in backends]


def write_manifest(folder: Path, variants: Sequence[Mapping[str, Any]], platform: str = PLATFORM) -> Path:
    """Writes `folder`/_lib/manifest.json; returns `folder`."""
    (folder / "_lib").mkdir(parents=True, exist_ok=True)
    document = {"schema": 1, "version": "0.1.0", "platform": platform, "variants": list(variants)}
    (folder / "_lib" / "manifest.json").write_text(json.dumps(document))
    return folder


def write_libraries(folder: Path, variants: Sequence[Mapping[str, Any]]) -> None:
    """Compiles a stub for each variant, whose build info is what the manifest says."""
    for variant in variants:
        major, minor = (variant["torch"] or "0.0").split(".")
        macros = (f'BACKEND="{variant["backend"]}"', f"MAJOR={major}", f"MINOR={minor}")
        stub.library(folder / "_lib" / variant["file"], *macros, f"CXX11_ABI={int(bool(variant['cxx11_abi']))}")


def record(folder: Path, distribution: str, version: str) -> Path:
    """Records in `folder` that this version of `distribution` is installed; returns the folder of the metadata."""
    metadata = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    return metadata


NO_TORCH = "no torch"  # also if a torch is installed


class Site:
    """A folder like site-packages, with a copy of the package that has these variants but no sources, and a torch.py.
    `torch` is the source of an expression that makes a torch with tests.support.fake_torch. In child processes this
    folder comes before other installed packages."""

    def __init__(
        self, folder: Path, variants: Sequence[Mapping[str, Any]] | None = None, torch: str | None = None
    ) -> None:
        self.folder = folder
        self.package = folder / "dlx_torch_ext"
        source = Path(dlx_torch_ext.__file__).parent
        left_out = shutil.ignore_patterns("_lib", "_src", "__pycache__")
        for name in (source.name, f"{source.name}_autoload"):
            shutil.copytree(source.with_name(name), folder / name, ignore=left_out)
        shutil.copy(ROOT / "docs" / "troubleshooting.md", self.package)  # as the wheel has it
        if variants is not None:
            write_manifest(self.package, variants)
            write_libraries(self.package, variants)
        if torch is not None:
            self.write_torch(torch)

    def write_torch(self, expression: str, autoload: bool = True) -> None:
        """Writes torch.py. With `autoload` it calls the entry point at its end, as torch does."""
        lines = [
            "from tests.support import fake_torch",
            f"_made = vars({expression})",
            "globals().update({name: _made[name] for name in _made if name == '__version__' or name[:2] != '__'})",
        ]
        if expression == NO_TORCH:
            lines, autoload = ["raise ModuleNotFoundError('No module named torch', name='torch')"], False
        if autoload:
            lines += [
                "from importlib.metadata import EntryPoint",
                f"EntryPoint('dlx_torch_ext', {_autoload.ENTRY_POINT!r}, {_autoload.ENTRY_POINT_GROUP!r}).load()()",
            ]
        (self.folder / "torch.py").write_text("\n".join(lines) + "\n")

    def call(self, function: Callable[..., Any], *arguments: object, **env: str | None) -> Any:
        """The result of the function in a child process."""
        return spawn.call(function, *arguments, env=self.environment(env))

    def cli(self, *arguments: str, **env: str | None) -> Finished:
        """Runs `dlx-torch` with these arguments in a child process."""
        return spawn.python("-m", "dlx_torch_ext", *arguments, env=self.environment(env))

    def environment(self, env: Changes) -> Changes:
        """The changes for a child process: this folder comes first, there are no settings of ours, and `env`."""
        path = os.pathsep.join([str(self.folder), str(ROOT)])
        clean = {name: None for name in os.environ if name.startswith(("DLX_TORCH_", "TORCH_")) and "TEST" not in name}
        return {**clean, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **env}


def facts(**changes: Any) -> Facts:
    """The facts about a torch 2.9.1 from PyPI, without a table, on this machine; with `changes`."""
    from dlx_torch_ext._release import parse

    version = changes.setdefault("torch", "2.9.1+cpu")
    plain = {"release": parse(version or ""), "cxx11_abi": True, "system": SYSTEM, "machine": read().machine}
    return Facts(**{**plain, **changes})
