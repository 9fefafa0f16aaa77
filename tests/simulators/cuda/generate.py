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
from typing import Optional, TypeVar

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import Section

HERE = Path(__file__).parent
BODIES = HERE / "bodies"
CORE = "libdlx_sim_cuda.so"  # bodies/sim.c: one record of calls for all libraries; recorder.py finds it by this name

# The functions that a library has to define, under the version node that torch asks for (None: unversioned).
Symbols = dict[Optional[str], set[str]]
Kind = TypeVar("Kind", bound=Section)

# libc10_cuda looks functions of these two up by name: the names are among its strings.
BY_NAME = {"libcuda.so.1": rb"\0(cu[A-Z][a-z]\w+)(?=\0)", "libnvidia-ml.so.1": rb"\0(nvml[A-Z]\w+)(?=\0)"}


def build(torch_dir: Path, out: Path) -> Path:
    """Return the folder of simulated libraries for a torch package folder, building it in `out` if it is not there yet.

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
            _compile(library, symbols, made, cuda, sorted((BODIES / _stem(library)).glob("*.c")))
        try:
            made.rename(folder)
        except OSError:  # another process was faster: its folder is the same
            if not folder.is_dir():
                raise
    return folder


def wanted(files: list[Path]) -> dict[str, Symbols]:
    """Return what torch's own libraries ask of each NVIDIA library that is not among them."""
    here = {path.name for path in files}
    libraries: dict[str, Symbols] = {name: {} for name in BY_NAME}
    for path in files:
        needed, undefined = _read(path)
        vendor = [name for name in needed if re.match(r"lib(cu|nv|nccl)", name) and name not in here]
        for name in vendor:
            libraries.setdefault(name, {})
        for symbol, library, node in undefined:
            if library is None and re.match("cu|nv|nccl", symbol):  # unversioned: its name tells whose it is
                owners = [name for name in vendor if symbol.lower().startswith(_stem(name).lower())]
                library = owners[0] if owners else "libcuda.so.1"
            if library in vendor:
                libraries[library].setdefault(node, set()).add(symbol)
        for library, pattern in BY_NAME.items() if path.name == "libc10_cuda.so" else ():
            found = {name.decode() for name in re.findall(pattern, path.read_bytes())}
            libraries[library].setdefault(None, set()).update(found)
    return libraries


def _read(path: Path) -> tuple[list[str], list[tuple[str, str | None, str | None]]]:
    """Return the NEEDED names of a shared library, and its undefined functions as (symbol, library, version node)."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        needed = [tag.needed for tag in _section(elf, ".dynamic", DynamicSection).iter_tags("DT_NEEDED")]
        nodes = {
            node["vna_other"]: (library.name, node.name)
            for library, library_nodes in _section(elf, ".gnu.version_r", GNUVerNeedSection).iter_versions()
            for node in library_nodes
        }
        names = _section(elf, ".dynstr", Section).data()
        # The tables are read whole: going through pyelftools symbol by symbol takes seconds, since torch has 100,000.
        symbols = struct.iter_unpack("<IBBHQQ", _section(elf, ".dynsym", Section).data())
        indices = struct.iter_unpack("<H", _section(elf, ".gnu.version", Section).data())
        undefined = []
        for (name, info, _, section, _, _), (index,) in zip(symbols, indices):
            if section == 0 and info >> 4 == 1:  # SHN_UNDEF, STB_GLOBAL: a weak one may stay undefined
                undefined.append((names[name : names.index(b"\0", name)].decode(), *nodes.get(index, (None, None))))
    return needed, undefined


def _section(elf: ELFFile, name: str, kind: type[Kind]) -> Kind:
    section = elf.get_section_by_name(name)
    assert isinstance(section, kind), f"{elf.stream.name} has no {name}"
    return section


def _stem(library: str) -> str:
    return library.split(".so")[0][len("lib") :]


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
    command += ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-I{BODIES}", f"-DDLX_SIM_CUDA_VERSION={cuda}"]
    command += [*map(str, [stubs, *bodies]), "-o", str(folder / library), f"-Wl,-soname,{library}"]
    command += [f"-Wl,--version-script={script}"] if script.stat().st_size else []
    command += [str(folder / CORE), "-Wl,-rpath,$ORIGIN"] if library != CORE else []
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
