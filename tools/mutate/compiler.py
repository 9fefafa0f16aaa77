"""Compiles a C++ mutant quickly: only the objects that see the change, at -O1, with torch's headers precompiled."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.mutate.mutant import IDENTICAL, NOT_COMPILED
from tools.mutate.workplace import Workplace
from tools.sdk import every_row, fetch
from tools.settings import ToolError, machine, run, tool

ROW, RELEASE = "torch2_9_cxx11", "2.9.1"
_LIBRARY = f"_lib/{ROW}/libdlx_torch_cuda.so"
# What most of a file's time goes into. A header that is missing from this list makes nothing wrong, only slower.
_TORCH_HEADERS = (
    "ATen/core/Tensor.h",
    "ATen/ops/empty_strided_ops.h",
    "c10/core/TensorImpl.h",
    "c10/core/impl/DeviceGuardImplInterface.h",
    "c10/core/impl/LocalDispatchKeySet.h",
    "c10/util/Exception.h",
)
_REPLACED = re.compile(r"-flto\S*|-fno-fat-lto-objects|-O\w?|-Wall|-Wextra|-Werror")


@dataclass(frozen=True)
class Unit:
    """A source file: how its object is made, and which files of ours it includes."""

    source: Path
    object: Path  # where the link command expects it
    command: tuple[str, ...]  # without output and source
    prefix: tuple[str, ...]  # names the precompiled header, which is one of -O1
    includes: frozenset[str]

    def compile(self) -> bool:
        return self._run("-O1", *self.prefix, output=self.object)

    def optimized(self) -> bytes:
        """The object as the compiler makes it when it thinks harder; empty where it fails."""
        output = self.object.with_suffix(".optimized")
        return output.read_bytes() if self._run("-O2", output=output) else b""

    def _run(self, *options: str, output: Path) -> bool:
        command = [*self.command, *options, "-w", "-c", str(self.source), "-o", str(output)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Compiler:
    """Compiles one mutant after the other, in the build of the libraries."""

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace
        self.build = workplace.folder / "build"
        self._build()
        self.units = self._units()
        self._precompile()
        # What fails here would fail for every mutant, and would be taken for a mutant that is no C++.
        failed = [unit.source.name for unit in self.units if not unit.compile()]
        if failed or not self.link():
            what = ", ".join(failed) or _LIBRARY
            raise ToolError(f"{what} cannot be made without a mutant: compare tools/mutate/compiler.py with the build")
        for unit in self.units:
            unit.object.with_suffix(".original").write_bytes(unit.object.read_bytes())

    def make(self, file: str) -> str:
        """Compiles and links after `file` was changed. "" where there is a new library, else why there is none."""
        changed, new = [unit for unit in self.units if file in unit.includes], False
        for unit in changed:
            if not unit.compile():
                return NOT_COMPILED
            new = new or unit.object.read_bytes() != _original(unit).read_bytes()
        if not new:
            return IDENTICAL
        return "" if self.link() else NOT_COMPILED

    def optimized(self, file: str) -> list[bytes]:
        """The objects that see this file, at -O2."""
        return [unit.optimized() for unit in self.units if file in unit.includes]

    def restore(self, file: str) -> None:
        """Puts the original objects back."""
        for unit in self.units:
            if file in unit.includes:
                unit.object.write_bytes(_original(unit).read_bytes())

    def _build(self) -> None:
        """Builds the libraries of ROW into the package of the workplace."""
        every_row.fetch_with_rocm(RELEASE, machine(), require_rocm=False)
        defines = {
            "DLX_TORCH_ROWS": ROW,
            "DLX_TORCH_BACKENDS": "cuda;torch_npu",  # the overlay is made for torch_npu
            "DLX_TORCH_SDK_DIR": str(fetch.sdk_dir(machine())),
            "CMAKE_MAKE_PROGRAM": tool("ninja"),
            "CMAKE_UNITY_BUILD": "OFF",
            "Python3_EXECUTABLE": sys.executable,  # it has dlpack.h
        }
        words = [f"-D{name}={value}" for name, value in defines.items()]
        source = ["-S", str(self.workplace.checkout), "-B", str(self.build), "-G", "Ninja"]
        run([tool("cmake"), *source, *words], what="configuring the mutants' build")
        run([tool("cmake"), "--build", str(self.build)], what="building what is mutated")
        run(
            [tool("cmake"), "--install", str(self.build), "--prefix", str(self.workplace.package_path)],
            what="installing what is mutated",
        )

    def _units(self) -> list[Unit]:
        wanted = {word for word in self._link_words() if word.endswith(".cc.o")}
        included = self._includes()
        entries = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        units = []
        for entry in entries:
            words = shlex.split(entry["command"])
            name = words[words.index("-o") + 1]
            if name in wanted:
                command = [word for word in words[: words.index("-o")] if not _REPLACED.fullmatch(word)]
                prefix = () if "/backends/" in name else ("-include", str(self.build / "torch.h"))
                full = self.build / name
                units.append(Unit(Path(entry["file"]), full, tuple(command), prefix, included[name]))
        return units

    def _includes(self) -> dict[str, frozenset[str]]:
        """The files of the checkout that each object was made of, as ninja noted them."""
        found: dict[str, frozenset[str]] = {}
        for block in run([tool("ninja"), "-C", str(self.build), "-t", "deps"], what="asking ninja").split("\n\n"):
            first, *paths = block.splitlines() or [""]
            root = f"{self.workplace.checkout}/"
            whole = [str((self.build / path.strip()).resolve()) for path in paths]
            found[first.partition(":")[0]] = frozenset(p[len(root) :] for p in whole if p.startswith(root))
        return found

    def _precompile(self) -> None:
        header = self.build / "torch.h"
        header.write_text("".join(f"#include <{name}>\n" for name in _TORCH_HEADERS), encoding="utf-8")
        command = next(unit.command for unit in self.units if unit.prefix)
        run([*command, "-w", "-O1", "-x", "c++-header", str(header), "-o", f"{header}.gch"], what="precompiling torch")

    def _link_words(self) -> list[str]:
        """The linker's command, without what else ninja's line does before and after it."""
        commands = run([tool("ninja"), "-C", str(self.build), "-t", "commands", _LIBRARY], what="asking ninja")
        line = next(line for line in reversed(commands.splitlines()) if f"-o {_LIBRARY} " in line)
        return shlex.split(next(command for command in line.split(" && ") if f"-o {_LIBRARY} " in command))

    def link(self) -> bool:
        """Links into a new file that replaces the old one: a process may still have that open."""
        new = self.build / "new.so"
        words = [str(new) if word == _LIBRARY else word for word in self._link_words() if not _REPLACED.fullmatch(word)]
        if subprocess.run(words, cwd=self.build, capture_output=True, check=False).returncode != 0:
            return False
        new.replace(self.workplace.package_path / "dlx_torch_ext" / _LIBRARY)
        return True


def _original(unit: Unit) -> Path:
    return unit.object.with_suffix(".original")
