"""What the simulated vendors share: compiling libraries from stubs and bodies, into a folder that is kept."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from tests.simulators.record import core_library

HERE = Path(__file__).parent
CORE = HERE / "core"

# The functions that a library has to define, by the version node that their callers want (None: unversioned).
Symbols = dict[Optional[str], set[str]]


@dataclass(frozen=True)
class Library:
    """A library to compile: a stub for every symbol that no C source defines.

    `needs` are the simulated libraries that it loads. All of them also load the one with the record of calls.
    """

    name: str
    symbols: Symbols = field(default_factory=dict)
    sources: tuple[Path, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vendor:
    """A simulated vendor, in the folder `tests/simulators/<name>`."""

    name: str

    @property
    def bodies(self) -> Path:
        return HERE / self.name / "bodies"

    def sources(self, library: str) -> tuple[Path, ...]:
        """Return the C files that define functions of a library; for libcudart.so.12 they are in bodies/cudart."""
        return tuple(sorted((self.bodies / stem(library)).glob("*.c")))

    def build(
        self, out: Path, name: str, files: Iterable[Path], libraries: Callable[[], list[Library]], **defines: object
    ) -> Path:
        """Return the folder `out`/`name`-<key>, compiling the libraries into it if it is not there yet.

        The key holds `files`, from which the libraries are made, and our sources. Several processes may share `out`.
        Raises RuntimeError where the C compiler fails.
        """
        folder = Path(out).resolve() / f"{name}-{self._key(files)}"
        if folder.is_dir():
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            common = (*sorted(CORE.glob("*.c")), *sorted(self.bodies.glob("*.c")))
            self._compile(Library(core_library(self.name), sources=common), made, defines)
            for library in libraries():
                self._compile(library, made, defines)
            try:
                made.rename(folder)
            except OSError:  # another process was faster: its folder is the same
                if not folder.is_dir():
                    raise
        return folder

    def _key(self, files: Iterable[Path]) -> str:
        """Return a short digest of what the result depends on."""
        digest = hashlib.sha256()
        for path in files:
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        ours = [*HERE.glob("*.py"), *(HERE / self.name).glob("*.py"), *CORE.iterdir(), *self.bodies.rglob("*.[ch]")]
        for path in sorted(ours):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def _compile(self, library: Library, folder: Path, defines: Mapping[str, object]) -> None:
        stubs = folder / f"{library.name}.c"
        script = folder / f"{library.name}.map"
        every = sorted(set().union(*library.symbols.values()))
        stubs.write_text('#include "stub.h"\n' + "".join(f"DLX_SIM_STUB({name})\n" for name in every))
        versioned = {node: names for node, names in library.symbols.items() if node}
        script.write_text("".join(f"{node} {{ global: {'; '.join(sorted(n))}; }};\n" for node, n in versioned.items()))
        core = core_library(self.name)
        needs = [*library.needs, core] if library.name != core else []
        command = [os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or "cc"]
        command += ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-I{self.bodies}", f"-I{CORE}"]
        command += [f"-DDLX_SIM_VENDOR={self.name}", f'-DDLX_SIM_DEVICES="DLX_SIM_{self.name.upper()}_DEVICES"']
        command += [f"-D{name}={value}" for name, value in defines.items()]
        command += [*map(str, [stubs, *library.sources]), "-o", str(folder / library.name)]
        command += [f"-Wl,-soname,{library.name}", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed"]
        command += [f"-Wl,--version-script={script}"] if versioned else []
        command += [*(str(folder / name) for name in needs), "-ldl", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"cannot compile the simulated {library.name}: {' '.join(command)}\n{done.stderr}")
        stubs.unlink()
        script.unlink()


def stem(library: str) -> str:
    """Return a library's name without lib and .so: cudart for libcudart.so.12."""
    return library.split(".so")[0][len("lib") :]


def shared_libraries(folder: Path) -> list[Path]:
    """Return the shared libraries in a folder, by name."""
    return sorted(path for path in folder.iterdir() if ".so" in path.name and path.is_file())


def installed(package: str) -> Path:
    """Return the folder of a package of this interpreter, without importing it. ValueError where there is none."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ValueError(f"{package} is not installed for this interpreter")
    return Path(spec.origin).parent


def version_strings(folder: Path, package: str = "torch") -> dict[str, str]:
    """Return the strings in version.py of an installed torch or torch_npu, which is read as a file."""
    file = folder / "version.py"
    if not file.is_file():
        raise ValueError(
            f"{folder} is not an installed {package}: it has no version.py; give the folder named {package}"
        )
    return dict(re.findall(r"^(\w+)\b[^=\n]*= *['\"](.+?)['\"]", file.read_text(), re.MULTILINE))


def default_cache(vendor: str) -> Path:
    """Return the folder below DLX_DEV_DIR in which built libraries are kept."""
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("DLX_DEV_DIR") or Path(user) / "dlx-torch-dev") / f"simulated-{vendor}"


def prepend(paths: Iterable[Path], variable: str, separator: str, env: Mapping[str, str]) -> str:
    """Return the paths, followed by the value that the variable has in `env`."""
    return separator.join([*map(str, paths), *filter(None, [env.get(variable)])])
