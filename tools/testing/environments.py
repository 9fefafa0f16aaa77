"""Virtual environments for tests and demo: one for each (Python, torch release, extras), created once and reused.

Without a GPU on this machine, torch is installed without NVIDIA's packages, which needs a third of the disk space, and
runs on the simulated CUDA of tests/simulators/cuda. With a GPU, everything that torch requires is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tools.build import cross
from tools.screen import busy
from tools.sdk import index
from tools.settings import ToolError, dev_dir, locked, machine, run, tool, uv_environment
from tools.testing import interpreters

# Requirements of torch's wheels that are not needed on a CPU or on the simulated CUDA.
_NOT_NEEDED = re.compile(r"(nvidia|cuda|triton|pytorch-triton)\b", re.IGNORECASE)
# pyelftools: for the simulated CUDA. setuptools: torch.compile and torch.utils.cpp_extension import it.
_COMMON = ("hypothesis>=6", "numpy", "pytest>=8.3", "pyelftools", "setuptools")
_IMPORTED = ("torch", "torch_npu", "tvm_ffi", "hypothesis", "pytest")


@dataclass(frozen=True)
class Environment:
    """An environment on disk."""

    folder: Path
    simulated: tuple[Path, ...] = ()  # folders with the simulated libraries for its torch and torch_npu
    arch: str = machine()

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def locked_for_use(self) -> AbstractContextManager[None]:
        """Lock the environment while the block runs: another ./dev that installs into it waits."""
        return locked(self.folder.with_name(self.folder.name + ".use"))

    def variables(self, **more: str) -> dict[str, str]:
        """The environment variables for a process in it. Those of ./dev's caller that change Python, torch, tvm-ffi or
        this package are left out."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DLX_TORCH_", "PYTHON", "TORCH_", "TVM_FFI_"))}
        kept["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
        kept["VIRTUAL_ENV"] = str(self.folder)
        if self.simulated:
            folders = [*map(str, self.simulated), kept.get("LD_LIBRARY_PATH", "")]
            kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
        if _package(self.folder, "torch_npu"):
            kept["DLX_SIM_CUDA_DEVICES"] = "0"  # torch_npu refuses to be the second accelerator
        if self.arch != machine():  # the tests compile for that processor
            kept |= cross.compilers(self.arch)
        return {**kept, **more}

    def install(self, *requirements: str) -> None:
        """Install these packages again, whatever version is there, without what they require."""
        command = [tool("uv"), "pip", "install", "-q", "--python", str(self.python), "--reinstall", "--no-deps"]
        run([*command, *requirements], what=f"installing {' '.join(requirements)}", env=uv_environment())

    def install_wheel(self, wheel: Path) -> None:
        """Install a wheel without an index: this fails if it requires a package that the environment lacks."""
        command = [tool("uv"), "pip", "install", "-q", "--python", str(self.python), "--no-index"]
        settings = {k: v for k, v in uv_environment().items() if k != "UV_FIND_LINKS"}
        run([*command, "--reinstall-package", "dlx-torch-ext", str(wheel)], what=f"installing {wheel}", env=settings)
        package = str(_package(self.folder, "dlx_torch_ext"))
        run([str(self.python), "-m", "compileall", "-q", package], what="compiling the package", env=self.variables())

    def compile(self, *modules: str) -> None:
        """Write the bytecode of what these modules import, where they can be imported. The tests write none themselves,
        because they change files twice within a second, and each of their many processes would compile a thousand
        modules of torch. All of torch would take three times as long."""
        variables = self.variables(TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        for module in modules:
            subprocess.run([self.python, "-c", f"import {module}"], env=variables, capture_output=True, check=False)


def real_devices() -> int:
    """The number of NVIDIA devices in /dev; no driver is called."""
    return len([entry for entry in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", entry.name)])


def get_or_create(
    python: str, torch: str | None, *extras: str, purpose: str = "test", arch: str = machine()
) -> Environment:
    """The environment with that CPython ("3.12"), torch release (or none) and `extras`; it is created if it is missing.
    For another processor than this machine's, its programs run under qemu.

    Extras are installed without their requirements: list those too, unless torch requires them. Environments with
    different `purpose` are separate, for callers that install different packages into them later.
    """
    identity = [python, f"torch=={torch}" if torch else "", f"devices: {real_devices()}", *_COMMON, *extras]
    key = hashlib.sha256("\n".join(identity).encode()).hexdigest()[:8]
    if arch != machine():
        purpose += f"-{arch}"
    folder = dev_dir() / "envs" / f"{purpose}-py{python}-{f'torch{torch}' if torch else 'bare'}-{key}"
    with locked(folder.with_name(folder.name + ".lock")):
        if not (folder / "complete").exists():
            with busy(f"Installing {f'torch {torch}' if torch else 'pytest'} for CPython {python}"):
                _create(folder, interpreters.require(python, arch), torch, extras)
            (folder / "complete").touch()
        simulated = tuple(_simulators(folder)) if torch and arch == machine() else ()
        environment = Environment(folder, simulated, arch)
        if torch and not _package(folder, "torch/__pycache__"):
            environment.compile(*_IMPORTED)
        return environment


def _create(folder: Path, interpreter: Path, torch: str | None, extras: tuple[str, ...]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    uv, settings = tool("uv"), uv_environment()
    run([uv, "venv", "-q", "--python", str(interpreter), str(folder)], what="creating an environment", env=settings)
    install = [uv, "pip", "install", "-q", "--python", str(folder / "bin" / "python")]
    requirements = list(_COMMON)
    if torch and real_devices():
        run([*install, f"torch=={torch}"], what=f"installing torch {torch}", env=settings)
    elif torch:
        run([*install, "--no-deps", f"torch=={torch}"], what=f"installing torch {torch}", env=settings)
        metadata = next(folder.glob("lib/python*/site-packages/torch-*.dist-info/METADATA")).read_text(encoding="utf-8")
        requirements += [
            r for r in re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE) if not _can_be_left_out(r)
        ]
    # Nothing is compiled: an older release that has a wheel for this CPython is as good.
    run([*install, "--only-binary=:all:", *requirements], what=f"installing {' '.join(requirements)}", env=settings)
    if extras:  # torch-c-dlpack-ext requires torch, which would bring NVIDIA's packages
        run([*install, "--no-deps", *extras], what=f"installing {' '.join(extras)}", env=settings)


def _can_be_left_out(requirement: str) -> bool:
    return bool(_NOT_NEEDED.match(requirement)) or "extra ==" in requirement


def _package(folder: Path, name: str) -> Path | None:
    return next(folder.glob(f"lib/python*/site-packages/{name}"), None)


def _simulators(folder: Path) -> Iterator[Path]:
    """The folders of the simulated libraries for an environment's torch and torch_npu. They are built if they are
    missing or outdated."""
    from tests.simulators import ascend, cuda

    torch, torch_npu = _package(folder, "torch"), _package(folder, "torch_npu")
    if torch_npu:
        yield ascend.build(torch_npu, dev_dir() / "simulated-ascend")
    if torch and not real_devices():
        with contextlib.suppress(ValueError):  # a CPU build of torch needs none
            yield cuda.build(torch, dev_dir() / "simulated-cuda")


def python_for(torch: str, preferred: str) -> str:
    """A CPython version for which the torch release has a wheel and which is here or can be downloaded: the preferred
    one, if possible."""
    for version in dict.fromkeys([preferred, "3.12", "3.11", "3.10", "3.13", "3.9"]):
        try:
            index.find(f"torch=={torch}", python=version, platform=f"{machine()}-manylinux_2_28")
        except ToolError:
            continue
        if interpreters.find(version):
            return version
    raise ToolError(
        f"torch {torch} has no wheel for any CPython that is here or can be downloaded: choose another release, or "
        "install a CPython that it supports"
    )
