"""Environments for tests and demo: a virtual environment per (Python, torch release, extras), made once and used again.

torch comes without NVIDIA's packages (a third of the disk space) and runs on the simulated CUDA of
tests/simulators/cuda, unless this machine has real devices: then everything that torch asks for is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tools.build import cross
from tools.screen import busy
from tools.sdk import index
from tools.settings import ToolError, dev_dir, locked, machine, run, tool, uv_environment
from tools.testing import interpreters

# What a torch wheel requires that no CPU or simulated CUDA needs.
_HEAVY = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b", re.IGNORECASE)
# pyelftools: for the simulated CUDA. setuptools: torch.compile and torch.utils.cpp_extension import it.
_COMMON = ("numpy", "pytest>=8.3", "pyelftools", "setuptools")


@dataclass(frozen=True)
class Environment:
    """An environment on disk."""

    folder: Path
    simulated: tuple[Path, ...] = ()  # the folders of simulated libraries that its torch, and torch_npu, need
    arch: str = machine()

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
        if self.simulated:
            folders = [*map(str, self.simulated), kept.get("LD_LIBRARY_PATH", "")]
            kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
        if _package(self.folder, "torch_npu"):
            kept["DLX_SIM_CUDA_DEVICES"] = "0"  # torch_npu refuses to be the second accelerator
        if self.arch != machine():  # for what the tests compile
            kept |= cross.compilers(self.arch)
        return {**kept, **more}

    def install(self, *requirements: str) -> None:
        """Install, replacing what is there under that name and touching nothing else."""
        command = [tool("uv"), "pip", "install", "-q", "--python", str(self.python), "--reinstall", "--no-deps"]
        run([*command, *requirements], what=f"installing {' '.join(requirements)}", env=uv_environment())

    def install_wheel(self, wheel: Path) -> None:
        """Install a wheel with what it requires, from no index: it has to require nothing that is not there."""
        command = [tool("uv"), "pip", "install", "-q", "--python", str(self.python), "--no-index"]
        settings = {k: v for k, v in uv_environment().items() if k != "UV_FIND_LINKS"}
        run([*command, "--reinstall-package", "dlx-torch-ext", str(wheel)], what=f"installing {wheel}", env=settings)


def real_devices() -> int:
    """How many NVIDIA devices the kernel shows; asks no driver."""
    return len([entry for entry in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", entry.name)])


def make(python: str, torch: str | None, *extras: str, purpose: str = "test", arch: str = machine()) -> Environment:
    """The environment with that CPython ("3.12"), torch release (or none) and `extras`; made if need be. One for
    another processor than this machine's runs under qemu.

    Extras come without what they require: name that too, unless torch requires it. `purpose` keeps environments apart
    that differ in what is installed into them later.
    """
    wanted = [python, f"torch=={torch}" if torch else "", f"devices: {real_devices()}", *_COMMON, *extras]
    key = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:8]
    if arch != machine():
        purpose += f"-{arch}"
    folder = dev_dir() / "envs" / f"{purpose}-py{python}-{f'torch{torch}' if torch else 'bare'}-{key}"
    with locked(folder.with_name(folder.name + ".lock")):
        if not (folder / "complete").exists():
            with busy(f"Installing {f'torch {torch}' if torch else 'pytest'} for CPython {python}"):
                _create(folder, interpreters.require(python, arch), torch, extras)
            (folder / "complete").touch()
        simulated = tuple(_simulators(folder)) if torch and arch == machine() else ()
        return Environment(folder, simulated, arch)


def _create(folder: Path, interpreter: Path, torch: str | None, extras: tuple[str, ...]) -> None:
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


def _package(folder: Path, name: str) -> Path | None:
    return next(folder.glob(f"lib/python*/site-packages/{name}"), None)


def _simulators(folder: Path) -> Iterator[Path]:
    """The simulated libraries for an environment's torch and torch_npu, built where missing or stale."""
    from tests.simulators import ascend, cuda

    torch, torch_npu = _package(folder, "torch"), _package(folder, "torch_npu")
    if torch_npu:
        yield ascend.build(torch_npu, dev_dir() / "simulated-ascend")
    if torch and not real_devices():
        with contextlib.suppress(ValueError):  # a CPU build needs none
            yield cuda.build(torch, dev_dir() / "simulated-cuda")


def python_for(torch: str, preferred: str) -> str:
    """A CPython version that a torch release has a wheel for: the preferred one if it may be, else one that is here."""
    for version in dict.fromkeys([preferred, "3.12", "3.11", "3.10", "3.13", "3.9"]):
        try:
            index.find(f"torch=={torch}", python=version, platform=f"{machine()}-manylinux_2_28")
        except ToolError:
            continue
        if interpreters.find(version):
            return version
    raise ToolError(f"torch {torch} has no wheel for any CPython that is here or can be fetched")
