"""Builds, for one installed CUDA build of torch, the folder of simulated NVIDIA libraries that it loads."""

from __future__ import annotations

import re
from pathlib import Path

from tests.simulators import elf
from tests.simulators.vendor import Library, Symbols, Vendor, shared_libraries, stem, version_strings

CUDA = Vendor("cuda")

# libc10_cuda looks up functions of these two by name; the names are among its strings.
BY_NAME = {"libcuda.so.1": rb"\0(cu[A-Z][a-z]\w+)(?=\0)", "libnvidia-ml.so.1": rb"\0(nvml[A-Z]\w+)(?=\0)"}


def build(torch_dir: Path, out: Path) -> Path:
    """Return the folder of simulated libraries for a torch package folder, building it in `out` if it is not there yet.

    torch is read as files, not imported. Several torch installations and several processes may share `out`.
    Raises ValueError where nothing is to be simulated, RuntimeError where the C compiler fails.
    """
    torch_dir = Path(torch_dir)
    found = version_strings(torch_dir)
    version = found.get("__version__")
    if "cuda" not in found:
        raise ValueError(f"torch {version} in {torch_dir} is not a CUDA build: nothing to simulate")
    major, minor = found["cuda"].split(".")[:2]
    files = shared_libraries(torch_dir / "lib")

    def libraries() -> list[Library]:
        return [Library(name, symbols, CUDA.sources(name)) for name, symbols in wanted(files).items()]

    as_cuda_counts = int(major) * 1000 + int(minor) * 10  # 12.8 is 12080
    return CUDA.build(out, f"torch{version}", files, libraries, DLX_SIM_CUDA_VERSION=as_cuda_counts)


def wanted(files: list[Path]) -> dict[str, Symbols]:
    """Return the symbols that torch's own libraries need of each NVIDIA library that is not among them."""
    here = {path.name for path in files}
    libraries: dict[str, Symbols] = {name: {} for name in BY_NAME}
    for path in files:
        needs = elf.read(path)
        vendor = [name for name in needs.libraries if re.match(r"lib(cu|nv|nccl)", name) and name not in here]
        for name in vendor:
            libraries.setdefault(name, {})
        for symbol, library, node in needs.symbols:
            if library is None and re.match(
                "cu|nv|nccl", symbol
            ):  # without a version: the name of the function shows the library
                owners = [name for name in vendor if symbol.lower().startswith(stem(name).lower())]
                library = owners[0] if owners else "libcuda.so.1"
            if library in vendor:
                libraries[library].setdefault(node, set()).add(symbol)
        for library, pattern in BY_NAME.items() if path.name == "libc10_cuda.so" else ():
            found = {name.decode() for name in re.findall(pattern, path.read_bytes())}
            libraries[library].setdefault(None, set()).update(found)
    return libraries
