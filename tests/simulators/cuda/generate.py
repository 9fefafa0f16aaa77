"""Builds, for one installed CUDA build of torch, the folder of simulated NVIDIA libraries that it loads."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Optional

from elftools.elf.elffile import ELFFile

HERE = Path(__file__).parent
BODIES = HERE / "bodies"
CORE = "libdlx_sim_cuda.so"  # bodies/sim.c: one record of calls for all libraries; recorder.py finds it by this name

# The functions that a library has to define, under the version node that torch asks for (None: unversioned).
Symbols = dict[Optional[str], set[str]]


def build(torch_dir: Path, out: Path) -> Path:
    """Return the folder of simulated libraries for the torch package `torch_dir`, a subfolder of `out`, building it if needed.

    torch is read as files, not imported. Several torch installations and several processes may share `out`.
    Raises ValueError where nothing is to be simulated, RuntimeError where the C compiler fails.
    """
    torch_dir = Path(torch_dir)
    version, cuda = _versions(torch_dir)
    files = sorted(path for path in (torch_dir / "lib").iterdir() if ".so" in path.name and path.is_file())
    folder = Path(out).resolve() / f"torch{version}-{_key(files)}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        _compile(CORE, {}, made, cuda, [BODIES / "sim.c"])
        for library, symbols in wanted(files).items():
            stem = library.split(".so")[0][len("lib") :]
            _compile(library, symbols, made, cuda, sorted((BODIES / stem).glob("*.c")))
        try:
            made.rename(folder)
        except OSError:  # another process was faster: its folder is the same
            if not folder.is_dir():
                raise
    return folder


def wanted(files: list[Path]) -> dict[str, Symbols]:
    """Return what torch's own libraries ask of each NVIDIA library that is not among them."""
    here = {path.name for path in files}
    libraries: dict[str, Symbols] = {"libcuda.so.1": {}, "libnvidia-ml.so.1": {}}  # these two are opened by name
    for path in files:
        needed, undefined = _read(path)
        vendor = [name for name in needed if re.match(r"lib(cu|nv|nccl)", name) and name not in here]
        for name in vendor:
            libraries.setdefault(name, {})
        versioned = {library for _, library, _ in undefined}
        for symbol, library, node in undefined:
            if library is None and re.match(r"(cu|nv|nccl)\w*[A-Z]", symbol):  # unversioned: the name tells whose it is
                library = _closest(symbol, [name for name in vendor if name not in versioned])
            if library in vendor:
                libraries[library].setdefault(node, set()).add(symbol)
        if path.name == "libc10_cuda.so":  # it looks functions of both up by name
            for library, pattern in (("libcuda.so.1", rb"\0(cu[A-Z][a-z]\w+)(?=\0)"), ("libnvidia-ml.so.1", rb"\0(nvml[A-Z]\w+)(?=\0)")):
                names = re.findall(pattern, path.read_bytes())
                libraries[library].setdefault(None, set()).update(name.decode() for name in names)
    return libraries


def _read(path: Path) -> tuple[list[str], list[tuple[str, str | None, str | None]]]:
    """Return the NEEDED names of a shared library, and its undefined functions as (symbol, library, version node)."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
        versions = elf.get_section_by_name(".gnu.version_r")
        nodes = {
            node["vna_other"]: (library.name, node.name)
            for library, library_nodes in (versions.iter_versions() if versions else ())
            for node in library_nodes
        }
        names = elf.get_section_by_name(".dynstr").data()
        # The tables are read whole: going through pyelftools symbol by symbol takes seconds, since torch has 100,000.
        symbols = struct.iter_unpack("<IBBHQQ", elf.get_section_by_name(".dynsym").data())
        indices = struct.iter_unpack("<H", elf.get_section_by_name(".gnu.version").data())
        undefined = []
        for (name, info, _, section, _, _), (index,) in zip(symbols, indices):
            if section == 0 and info >> 4 == 1:  # SHN_UNDEF, STB_GLOBAL: a weak one may stay undefined
                undefined.append((names[name : names.index(b"\0", name)].decode(), *nodes.get(index, (None, None))))
    return needed, undefined


def _closest(symbol: str, libraries: list[str]) -> str | None:
    """Return the library whose name begins most like the symbol's: ncclSend is libnccl's, cuFileRead libcufile's."""

    def shared(library: str) -> int:
        return len(os.path.commonprefix([symbol.lower(), library[len("lib") :].lower()]))

    return max(libraries, key=shared, default=None)


def _compile(library: str, symbols: Symbols, folder: Path, cuda: int, bodies: list[Path]) -> None:
    """Compile one library: a weak stub for each symbol, replaced by the strong one where a body defines it."""
    stubs = folder / f"{library}.c"
    script = folder / f"{library}.map"
    every = sorted(set().union(*symbols.values()))
    stubs.write_text(
        '#include "sim.h"\n'
        + "#define STUB(name) __attribute__((weak)) long name(void) { dlx_sim_note(#name); return 0; }\n"
        + "".join(f"STUB({name})\n" for name in every)
    )
    script.write_text(
        "".join(f"{node} {{ global: {'; '.join(sorted(names))}; }};\n" for node, names in symbols.items() if node)
    )
    command = [os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or "cc"]
    command += ["-shared", "-fPIC", "-O1", "-Wall", f"-I{BODIES}", f"-DDLX_SIM_CUDA_VERSION={cuda}"]
    command += [str(stubs), *map(str, bodies), "-o", str(folder / library), f"-Wl,-soname,{library}", "-Wl,-rpath,$ORIGIN"]
    command += [f"-Wl,--version-script={script}"] if script.stat().st_size else []
    command += [str(folder / CORE)] if library != CORE else []
    command += ["-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"cannot compile the simulated {library}: {' '.join(command)}\n{done.stderr}")
    stubs.unlink()
    script.unlink()


def _versions(torch_dir: Path) -> tuple[str, int]:
    """Return torch's version and its CUDA version as CUDA counts: 12.8 is 12080."""
    file = torch_dir / "version.py"
    if not file.is_file():
        raise ValueError(f"{torch_dir} is not an installed torch: it has no version.py; give the folder named torch")
    found = dict(re.findall(r"^(__version__|cuda)\b[^=]*= *['\"](.+?)['\"]", file.read_text(), re.MULTILINE))
    if "cuda" not in found:
        raise ValueError(f"torch {found.get('__version__')} in {torch_dir} is not a CUDA build: nothing to simulate")
    major, minor = found["cuda"].split(".")[:2]
    return found["__version__"], int(major) * 1000 + int(minor) * 10


def _key(files: list[Path]) -> str:
    """Return a short digest of what the result depends on: torch's libraries and our sources."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
    for path in sorted([Path(__file__), *BODIES.rglob("*.[ch]")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
