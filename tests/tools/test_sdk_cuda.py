"""The CUDA part of an SDK: which of NVIDIA's wheels a torch needs, and what is copied to the SDK of another
processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.sdk import cuda, elf_stub

X86_64, AARCH64 = 62, 183  # e_machine

METADATA = {
    "12": """\
Requires-Dist: nvidia-cuda-nvrtc-cu12==12.8.93; platform_system == "Linux"
Requires-Dist: nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux"
""",
    "13": """\
Requires-Dist: cuda-toolkit[cublas,cudart,nvtx]==13.2.2; platform_system == "Linux"
Requires-Dist: cuda-bindings<14,>=13.0.3; platform_system == "Linux"
""",
    "none": "Requires-Dist: filelock\n",
}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("12", ["nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-nvcc-cu12==12.8.*"]),
        ("13", ["nvidia-cuda-runtime==13.2.*", "nvidia-cuda-crt==13.2.*"]),
        ("none", []),
    ],
)
def test_which_wheels_have_the_headers(version: str, expected: list[str]) -> None:
    assert cuda.packages(METADATA[version]) == expected


def write_stub(folder: Path, name: str, machine: int, symbols: list[bytes]) -> None:
    file = folder / "torch" / "lib" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    elf_stub.write(elf_stub.Exports(name, machine, tuple((symbol, 0x12, 4) for symbol in symbols)), file)


def test_an_sdk_without_cuda_gets_the_headers_and_a_stub_for_its_own_processor(tmp_path: Path) -> None:
    with_cuda, without = tmp_path / "with_cuda", tmp_path / "without"
    for folder in ("torch/include/c10/cuda/impl", "cuda/include/crt"):
        (with_cuda / folder).mkdir(parents=True)
        (with_cuda / folder / "header.h").write_text(folder)
    write_stub(with_cuda, "libc10_cuda.so", X86_64, [b"_ZN3c104cuda20getCurrentCUDAStreamEa"])
    write_stub(without, "libc10.so", AARCH64, [b"_ZN3c103One"])

    cuda.copy_from_other_processor(with_cuda, without)

    assert (without / "torch/include/c10/cuda/impl/header.h").is_file()
    assert (without / "cuda/include/crt/header.h").is_file()
    with (without / "torch/lib/libc10_cuda.so").open("rb") as stream:
        exports = elf_stub.read(stream)
    assert (exports.machine, exports.soname) == (AARCH64, "libc10_cuda.so")
    assert exports.names() == ["_ZN3c104cuda20getCurrentCUDAStreamEa"]
    # The audit compares with lists of real libraries, and none was read for this processor.
    assert not (without / "torch/lib/libc10_cuda.symbols").exists()
