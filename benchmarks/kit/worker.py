"""For each line on stdin, print the time of one way to call, in ns: python -m benchmarks.kit.worker NAME."""

from __future__ import annotations

import sys
import sysconfig
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import kit
from tests.support.compiled import library

# Short repetitions: on a busy machine the least of them was not interrupted.
NUMBER, REPETITIONS = 500, 200
FOLDER = Path(__file__).parent


def empty(x: object, y: object, z: object) -> None:
    """What Python itself costs."""


def plain_file() -> Path:
    flags = ("-O2", "-std=c++17", kit.LIMITED, *kit.includes(), f"-DHEADERS_{kit.digest()}")
    return library(FOLDER / "plain.cc", *flags)


def pybind11_file() -> Path:
    from torch.utils import cpp_extension

    places = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"]]
    torch = [f"-L{cpp_extension.TORCH_LIB_PATH}", "-lc10", "-ltorch_cpu", "-ltorch_python"]
    return library(FOLDER / "with_pybind11.cc", "-O2", "-std=c++17", *(f"-isystem{place}" for place in places), *torch)


def plain() -> Any:
    return kit.load(plain_file(), "plain")


def with_tvm_ffi() -> Any:
    import tvm_ffi.testing

    return tvm_ffi.testing.nop


def torch_empty() -> Any:
    import torch

    return torch.empty


def tensors(device: str) -> tuple[Any, ...]:
    import torch

    if device != "cpu" and not torch.cuda.is_available():
        sys.exit()
    return tuple(torch.ones(4, device=device) for _ in range(3))


# The function, the device of its tensors, and the call.
CALLS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "empty function of Python": (lambda: empty, "cpu", "f(x, y, z)"),
    "plain extension, no checks": (lambda: plain().plain, "cpu", "f(x, y, z)"),
    "kit": (lambda: plain().kit, "cpu", "f(x, y, z)"),
    "kit, stream on CUDA": (lambda: plain().kit_with_stream, "cuda", "f(x, y, z)"),
    "pybind11 and torch's headers": (lambda: kit.load(pybind11_file(), "with_pybind11").nop, "cpu", "f(x, y, z)"),
    "tvm-ffi": (with_tvm_ffi, "cpu", "f(x, y, z)"),
    "kit, output": (lambda: plain().output, "cpu", "f(x)"),
    "torch.empty": (torch_empty, "cpu", "f(4)"),
}


def build_all() -> None:
    plain_file()
    pybind11_file()


def main(name: str) -> None:
    import torch  # noqa: F401  the extensions need it

    function, device, call = CALLS[name]
    x, y, z = tensors(device)
    timer = timeit.Timer(call, globals={"f": function(), "x": x, "y": y, "z": z})
    for _ in sys.stdin:
        print(min(timer.repeat(REPETITIONS, NUMBER)) / NUMBER * 1e9, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
