"""The clang that instruments for libFuzzer: the one on PATH, if it has everything, or else Debian's, unpacked."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools import apt
from tools.screen import busy
from tools.settings import ToolError, dev_dir, locked, machine, run

_VERSION = "19"
_PACKAGES = [f"clang-{_VERSION}", f"libclang-rt-{_VERSION}-dev", f"llvm-{_VERSION}"]  # compiler, runtimes, llvm-cov


@dataclass(frozen=True)
class Clang:
    """A clang on disk. `libraries`: the folder with its own shared libraries, or None where the system finds them."""

    programs: Path
    libraries: Path | None = None

    def tool(self, name: str) -> str:
        return str(self.programs / name)

    def runtime(self, name: str) -> Path:
        """A library of the compiler's, such as "libclang_rt.asan"; the answer is no absolute path where it has none."""
        suffix = ".a" if name.endswith("fuzzer_no_main") else ".so"
        return self.library(f"{name}-{machine()}{suffix}")

    def library(self, name: str) -> Path:
        """A file that the compiler would link."""
        command = [self.tool("clang++"), f"-print-file-name={name}"]
        return Path(run(command, what=f"looking for {name}", env=self.environment()).strip())

    def environment(self) -> dict[str, str]:
        """The environment variables for its programs."""
        own = [str(self.libraries)] if self.libraries else []
        path = os.pathsep.join([*own, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        return {**os.environ, **({"LD_LIBRARY_PATH": path} if path else {})}


def find() -> Clang:
    """A clang++ with libFuzzer, ASan and llvm-cov; ToolError where there is none and Debian's cannot be downloaded."""
    if found := shutil.which("clang++"):
        clang = Clang(Path(found).resolve().parent)
        if _is_complete(clang):
            return clang
    root = dev_dir() / f"clang-{_VERSION}"
    with locked(root.with_name(root.name + ".lock")):
        if not (root / "complete").exists():
            with busy(f"Downloading clang {_VERSION}"):
                _unpack(root)
    return _unpacked(root)


def _unpack(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    try:
        apt.unpack(_PACKAGES, root, dependencies=True, settings={"APT::Install-Recommends": "false"})
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(
            f"./dev fuzz needs clang++ with libFuzzer: none is on PATH, and {' '.join(_PACKAGES)} cannot be downloaded "
            f"by apt ({error}). Install them"
        ) from None
    if not _is_complete(_unpacked(root)):
        raise ToolError(f"the clang in {root} does not run or lacks libFuzzer: install {' '.join(_PACKAGES)}")
    (root / "complete").touch()


def _unpacked(root: Path) -> Clang:
    libraries = next(root.glob("usr/lib/*-linux-gnu"), None)
    return Clang(root / "usr" / "lib" / f"llvm-{_VERSION}" / "bin", libraries)


def _is_complete(clang: Clang) -> bool:
    programs = ("clang++", "llvm-cov", "llvm-profdata", "llvm-symbolizer")
    if not all((clang.programs / name).exists() for name in programs):
        return False
    try:
        return all(clang.runtime(name).exists() for name in ("libclang_rt.fuzzer_no_main", "libclang_rt.asan"))
    except ToolError:
        return False
