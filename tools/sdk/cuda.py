"""The CUDA part of an SDK: NVIDIA's headers, which c10/cuda includes, and c10/cuda itself where torch's wheel lacks
it."""

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
    """The requirements for the two wheels of NVIDIA with the headers that a torch wheel with this METADATA needs: those
    of the CUDA runtime, and the compiler's folder crt/. An empty list where that torch has no CUDA.

    For CUDA 12 METADATA pins the runtime, and crt/ is in the compiler's wheel. For CUDA 13 it pins cuda-toolkit.
    """
    for pin, runtime, crt in (
        ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu12=={}", "nvidia-cuda-nvcc-cu12=={}.*"),
        ("cuda-toolkit", "nvidia-cuda-runtime=={}.*", "nvidia-cuda-crt=={}.*"),
    ):
        for version in index.pinned_versions(metadata, pin):
            minor = ".".join(version.split(".")[:2])
            return [runtime.format(version if "cu12" in runtime else minor), crt.format(minor)]
    return []


def members(archive: zipfile.ZipFile) -> dict[str, str]:
    """The members of one of NVIDIA's wheels that an SDK keeps, each with its path below the SDK's folder cuda/."""
    headers = {name: f"include/{match[1]}" for name in archive.namelist() if (match := _HEADER.fullmatch(name))}
    return headers | {name: "License.txt" for name in archive.namelist() if _LICENCE.fullmatch(name)}


def copy_from_other_processor(other: Path, sdk: Path) -> None:
    """Copy the CUDA headers and a stub of libc10_cuda from `other`, the SDK of the same release for another processor,
    to `sdk`, whose torch has no CUDA.

    This serves aarch64: torch's own index has CUDA wheels for it from 2.4 on, PyPI only from 2.11 on. The copy is right
    because a C++ name contains only types, and nothing in c10/cuda depends on the processor. No libc10_cuda.symbols is
    written: the audit compares with lists of real libraries, and none was read for this processor.
    """
    shutil.copytree(other / "torch/include/c10/cuda", sdk / "torch/include/c10/cuda", dirs_exist_ok=True)
    shutil.copytree(other / "cuda", sdk / "cuda", dirs_exist_ok=True)
    exports = _exports(other / "torch/lib/libc10_cuda.so")
    machine = _exports(sdk / "torch/lib/libc10.so").machine
    elf_stub.write(dataclasses.replace(exports, machine=machine), sdk / "torch/lib/libc10_cuda.so")


def _exports(library: Path) -> elf_stub.Exports:
    with library.open("rb") as stream:
        return elf_stub.read(stream)
