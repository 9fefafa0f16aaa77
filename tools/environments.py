"""Environments for tests and demo: a virtual environment per (Python, torch release, extras), made once and used again.

torch comes without NVIDIA's packages (a third of the disk space) and runs on the simulated CUDA of
tests/simulators/cuda, unless this machine has real devices: then everything that torch asks for is installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tools import interpreters, wheels
from tools.screen import busy
from tools.settings import ToolError, dev_dir, locked, machine, run, tool, uv_environment

# What a torch wheel requires that no CPU or simulated CUDA needs.
_HEAVY = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b", re.IGNORECASE)
# pyelftools: for the simulated CUDA. setuptools: torch.compile and torch.utils.cpp_extension import it.
_COMMON = ("numpy", "pytest>=8.3", "pyelftools", "setuptools")


@dataclass(frozen=True)
class Environment:
    """An environment on disk."""

    folder: Path
    simulated: Path | None  # the folder of simulated CUDA libraries, where torch needs it

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def used_alone(self) -> AbstractContextManager[None]:
        """While the block runs, another ./dev that wants to install into this environment waits."""
        return locked(self.folder.with_name(self.folder.name + ".use"))

    def variables(self, **more: str) -> dict[str, str]:
        """The environment variables for a process in it: nothing of ours or of Python's leaks in from outside."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DLX_TORCH_", "PYTHON", "TORCH_", "TVM_FFI_"))}
        kept["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
        kept["VIRTUAL_ENV"] = str(self.folder)
        if self.simulated is not None:
            kept["LD_LIBRARY_PATH"] = os.pathsep.join(
                filter(None, [str(self.simulated), kept.get("LD_LIBRARY_PATH", "")])
            )
        return {**kept, **more}

    def install(self, *requirements: str) -> None:
        """Install, replacing what is there under that name and touching nothing else."""
        command = [tool("uv"), "pip", "install", "-q", "--python", str(self.python), "--reinstall", "--no-deps"]
        run([*command, *requirements], what=f"installing {' '.join(requirements)}", env=uv_environment())


def real_devices() -> int:
    """How many NVIDIA devices the kernel shows; asks no driver."""
    return len([entry for entry in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", entry.name)])


def make(python: str, torch: str | None, *extras: str, purpose: str = "test") -> Environment:
    """The environment with that CPython ("3.12"), torch release (or none) and `extras`; made if need be.

    Extras come without what they require: name that too, unless torch requires it. `purpose` keeps environments apart
    that differ in what is installed into them later.
    """
    wanted = [python, f"torch=={torch}" if torch else "", f"devices: {real_devices()}", *_COMMON, *extras]
    key = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:8]
    folder = dev_dir() / "envs" / f"{purpose}-py{python}-{f'torch{torch}' if torch else 'bare'}-{key}"
    with locked(folder.with_name(folder.name + ".lock")):
        if not (folder / "complete").exists():
            with busy(f"Installing {f'torch {torch}' if torch else 'pytest'} for CPython {python}"):
                _create(folder, python, torch, extras)
            (folder / "complete").touch()
        return Environment(folder, _simulators(folder) if torch else None)


def _create(folder: Path, python: str, torch: str | None, extras: tuple[str, ...]) -> None:
    interpreter = interpreters.require(python)
    shutil.rmtree(folder, ignore_errors=True)
    uv, settings = tool("uv"), uv_environment()
    run([uv, "venv", "-q", "--python", str(interpreter), str(folder)], what="making an environment", env=settings)
    install = [uv, "pip", "install", "-q", "--python", str(folder / "bin" / "python")]
    light = list(_COMMON)
    if torch and real_devices():
        run([*install, f"torch=={torch}"], what=f"installing torch {torch}", env=settings)
    elif torch:
        run([*install, "--no-deps", f"torch=={torch}"], what=f"installing torch {torch}", env=settings)
        metadata = next(folder.glob("lib/python*/site-packages/torch-*.dist-info/METADATA")).read_text(encoding="utf-8")
        light += [r for r in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE) if not _heavy(r)]
    run([*install, *light], what=f"installing {' '.join(light)}", env=settings)
    if extras:  # torch-c-dlpack-ext, for one, requires torch, and with it NVIDIA's packages
        run([*install, "--no-deps", *extras], what=f"installing {' '.join(extras)}", env=settings)


def _heavy(requirement: str) -> bool:
    return bool(_HEAVY.match(requirement)) or "extra ==" in requirement


def _simulators(folder: Path) -> Path | None:
    """The simulated CUDA for the torch in an environment, built where missing or stale; None where torch needs none."""
    if real_devices():
        return None
    from tests.simulators import cuda

    try:
        return cuda.build(next(folder.glob("lib/python*/site-packages/torch")), dev_dir() / "simulated-cuda")
    except ValueError:  # a CPU build
        return None


def python_for(torch: str, preferred: str) -> str:
    """A CPython version that a torch release has a wheel for: the preferred one if it may be, else one that is here."""
    for version in dict.fromkeys([preferred, "3.12", "3.11", "3.10", "3.13", "3.9"]):
        try:
            wheels.find(f"torch=={torch}", python=version, platform=f"{machine()}-manylinux_2_28")
        except ToolError:
            continue
        if interpreters.find(version):
            return version
    raise ToolError(f"torch {torch} has no wheel for any CPython that is here or can be fetched")
