"""Compiles one library with CMake and Ninja, and shows their progress."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .. import __version__, _cache
from .._errors import BuildError
from .._record import Record
from .._variants import archive_of, library_file

if TYPE_CHECKING:
    from .._facts import Facts

INSTALL_TOOLS = "pip install 'dlx-torch-ext[build]'"

_MAX_FAILURE_LINES = 40  # that are shown of a compiler that fails
_COMPILERS = ("c++", "g++", "clang++")


class Tools(Record):
    """The paths of the programs and folders that compiling needs. `torch`: the folder of the package torch."""

    source: str
    cmake: str
    ninja: str
    dlpack: str
    torch: str


def find_tools(torch_folder: str) -> Tools:
    """Finds what compiling needs, or raises a BuildError that says what to install."""
    source = _cache.source_folder()
    if not source:
        archive = archive_of(os.path.dirname(__file__))
        remedy = f"install it outside of the archive {archive}" if archive else "reinstall it"
        raise BuildError(f"this installation of dlx-torch-ext has no sources to compile: {remedy}")
    if not os.path.isfile(os.path.join(torch_folder, "include", "c10", "core", "TensorImpl.h")):
        raise BuildError(f"the torch in {torch_folder} has no C++ headers: install torch's own wheel, which has them")
    _require_compiler()
    return Tools(source, _find_program("cmake"), _find_program("ninja"), _find_dlpack(), torch_folder)


def compile_library(tools: Tools, facts: Facts, backend: str, work: str) -> str:
    """Compiles the library for exactly the torch of `facts` in the empty folder `work`; returns its path there."""
    configure = [tools.cmake, "-S", tools.source, "-B", work, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools.ninja}"]
    definitions = {
        "CMAKE_BUILD_TYPE": "Release",
        "DLX_TORCH_VERSION": "".join(itertools.takewhile("0123456789.".__contains__, __version__)).rstrip("."),
        "Python3_EXECUTABLE": sys.executable,
        "DLX_TORCH_EXACT": facts.torch,
        "DLX_TORCH_CXX11_ABI": int(bool(facts.cxx11_abi)),
        "DLX_TORCH_DIR": tools.torch,
        "DLX_TORCH_BACKENDS": backend,
        "DLX_DLPACK_INCLUDE_DIR": tools.dlpack,
    }
    _run_step("configuring", [*configure, *(f"-D{name}={value}" for name, value in definitions.items())])
    _run_step("compiling", [tools.cmake, "--build", work, "--target", f"dlx_torch_{backend}_exact"])
    return os.path.join(work, "_lib", "exact", library_file(backend, facts.system))


def say(text: str) -> None:
    """Prints a message for the user to stderr. stdout has the result only."""
    print(f"dlx-torch: {text}", file=sys.stderr, flush=True)


def failure_lines(output: Sequence[str]) -> list[str]:
    """The lines of `output` that say what went wrong. For CMake: its message as one line. For a compiler: what comes
    after the first failure, without the command that Ninja prints there."""
    for index, line in enumerate(output):
        if line.startswith("CMake Error"):
            reason = itertools.takewhile(lambda text: not text or text.startswith("  "), output[index + 1 :])
            return [" ".join(" ".join(reason).split()) or line]
        if line.startswith("FAILED:"):
            return list(output[index + 2 :][:_MAX_FAILURE_LINES])
    return list(output[-_MAX_FAILURE_LINES:])


def _find_program(name: str) -> str:
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not found: {INSTALL_TOOLS}")
    return found


def _require_compiler() -> None:
    if sys.platform == "win32":  # CMake looks for Visual Studio, and says so if there is none
        return
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen and shutil.which(chosen[0]) is None:
        raise BuildError(f"CXX={os.environ['CXX']}: there is no program {chosen[0]} here: correct CXX, or unset it")
    if not chosen and not any(map(shutil.which, _COMPILERS)):
        raise BuildError(
            "there is no C++ compiler: install g++ or clang++ (apt install g++, dnf install gcc-c++), or set CXX"
        )


def _find_dlpack() -> str:
    """The folder that holds dlpack/dlpack.h: in our wheel, or in apache-tvm-ffi."""
    places = [os.path.join(entry, "include") for entry in sys.modules["dlx_torch_ext"].__path__]
    spec = importlib.util.find_spec("tvm_ffi")
    places += [os.path.join(entry, "include") for entry in (spec.submodule_search_locations if spec else None) or ()]
    for place in places:
        if os.path.isfile(os.path.join(place, "dlpack", "dlpack.h")):
            return place
    raise BuildError(f"dlpack/dlpack.h, a header of apache-tvm-ffi, is not found: {INSTALL_TOOLS}")


def _run_step(what: str, command: Sequence[str]) -> None:
    say(what)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", bufsize=1
    )
    assert process.stdout is not None
    try:
        output = _read_and_show(process.stdout)
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        process.stdout.close()
    if status != 0:
        first, *more = failure_lines(output) or [f"exit status {status}"]
        raise BuildError("\n".join([f"{what} failed: {first}", *more]))


def _read_and_show(stream: Iterable[str]) -> list[str]:
    """Reads all lines. On a terminal it shows Ninja's latest step, [3/12], in one line."""
    live = sys.stderr.isatty()
    width = shutil.get_terminal_size().columns - 1
    lines = []
    for line in stream:
        lines.append(line.rstrip("\n"))
        if live and line.startswith("["):
            print(f"\r\033[K{lines[-1][:width]}", end="", file=sys.stderr, flush=True)
    if live:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return lines
