"""The CUDA part of an SDK: NVIDIA's headers that c10/cuda includes, and c10/cuda where torch's wheel lacks it."""

from __future__ import annotations

import dataclasses
import re
import shutil
import zipfile
from pathlib import Path

from tools.sdk import elf_stub, index

_HEADER = re.compile(r"nvidia/\w+/include/((?:crt/)?\w+\.h(?:pp)?)")
_LICENCE = re.compile(r".*\.dist-info/(licenses/)?License\.txt")


def packages(metadata: str) -> list[str]:
    """The requirements of NVIDIA's wheels with the CUDA runtime's headers and the compiler's crt/ folder, of the CUDA
    that a torch wheel with this METADATA is for.

    For CUDA 12 torch names the runtime itself, and crt/ is in the compiler's wheel; for CUDA 13 it names a toolkit.
    """
    for pin, runtime, crt in (
        ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu12=={}", "nvidia-cuda-nvcc-cu12=={}.*"),
        ("cuda-toolkit", "nvidia-cuda-runtime=={}.*", "nvidia-cuda-crt=={}.*"),
    ):
        for version in index.requirements(metadata, pin):
            minor = ".".join(version.split(".")[:2])
            return [runtime.format(version if "cu12" in runtime else minor), crt.format(minor)]
    return []


def members(archive: zipfile.ZipFile) -> dict[str, str]:
    """What an SDK keeps of one of NVIDIA's wheels: the path below the SDK's cuda/ folder of each member."""
    kept = {name: f"include/{found[1]}" for name in archive.namelist() if (found := _HEADER.fullmatch(name))}
    return kept | {name: "License.txt" for name in archive.namelist() if _LICENCE.fullmatch(name)}


def borrow(other: Path, sdk: Path) -> None:
    """Complete the SDK of a torch without CUDA by the headers, and a stub of libc10_cuda, of the same release's SDK for
    another processor, `other`.

    Torch's own index has CUDA wheels for aarch64 from 2.4 on and PyPI from 2.11 on. A C++ name is made of types alone
    and c10/cuda has no word about processors. No libc10_cuda.symbols is written: it was not seen for this processor.
    """
    shutil.copytree(other / "torch/include/c10/cuda", sdk / "torch/include/c10/cuda", dirs_exist_ok=True)
    shutil.copytree(other / "cuda", sdk / "cuda", dirs_exist_ok=True)
    theirs, ours = _exports(other / "torch/lib/libc10_cuda.so"), _exports(sdk / "torch/lib/libc10.so")
    elf_stub.write(dataclasses.replace(theirs, machine=ours.machine), sdk / "torch/lib/libc10_cuda.so")


def _exports(library: Path) -> elf_stub.Exports:
    with library.open("rb") as stream:
        return elf_stub.read(stream)
