"""`dlx-torch build`: compiles a library for exactly the torch that is installed, and puts it where `resolve` finds it.

The library is compiled in a folder of its own and checked in a process of its own. Only then is it renamed to its final
name, so a failure leaves no file behind.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator

from .. import _cache, _facts, _resolve
from .._errors import BuildError
from .._facts import Facts
from .._ids import with_ids
from .._record import Record
from .._variants import human_name, read_manifest
from . import child
from .compile import compile_library, find_tools, say
from .lock import LockHeld, locked

_SYSTEMS = {"cuda": ("linux", "windows"), "rocm": ("linux",), "torch_npu": ("linux",)}
_TIMEOUT_S = 900.0
_VERSION_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_")


class Target(Record):
    """What to build, and the path of the result. `user_named`: the user has chosen the name of the file."""

    facts: Facts
    backend: str
    path: str
    user_named: bool

    @property
    def name(self) -> str:
        return human_name(self.facts.torch, self.facts.cxx11_abi, self.backend)


def refused_on(system: str, backend: str | None) -> str:
    """Why a library for `backend` cannot be built on `system`, or ""."""
    systems = _SYSTEMS.get(backend or "", (system,))
    if system in systems:
        return ""
    return f"a {backend} library can be built on {' and '.join(systems)} only, this is {system}"


def run(backend: str | None, output_dir: str | None, libname: str | None) -> int:
    """Builds, prints the path of the library and returns 0. On failure it says why in one line, followed by the output
    of a compiler that failed, and returns 1."""
    # Extensions that torch would import are not needed here, and may fail: a build machine may lack Ascend's libraries.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    torch, problem = _facts.import_torch()
    try:
        facts = _facts.read(torch, problem)
        target = plan(facts, backend, output_dir, libname)
        _build_target(target, os.path.dirname(os.path.abspath(torch.__file__)))
    except BuildError as error:
        say(with_ids(str(error)))
        return 1
    except KeyboardInterrupt:
        say("interrupted; no file was left behind")
        return 130
    print(target.path)
    say(_how_it_is_used(target))
    return 0


def plan(facts: Facts, backend: str | None, output_dir: str | None, libname: str | None) -> Target:
    """What to build for the torch of `facts`. BuildError if nothing can be built. Reads no file."""
    problem = _resolve.why_unusable(facts)
    if not problem and (facts.line is None or not facts.torch or not set(facts.torch) <= _VERSION_CHARACTERS):
        problem = facts.release.problem or f"torch.__version__ is {facts.torch!r}, which is not a version number"
    if not problem and facts.cxx11_abi is None:
        problem = (
            "this torch does not say its C++ ABI, so no library can be built for it: install another build of torch"
        )
    chosen = backend or ("" if problem else _resolve.wanted_backend(facts))
    problem = problem or refused_on(facts.system, chosen) or _backend_problem(facts, chosen)
    if libname is not None and (os.path.basename(libname) != libname or libname in ("", ".", "..")):
        problem = f"--libname {libname!r} is not the name of a file without a folder: give the folder with --output-dir"
    folder = os.path.abspath(os.path.expanduser(output_dir)) if output_dir else _cache.folder(facts.settings)
    if not problem and not folder:
        problem = "there is no home directory for the cache: set DLX_TORCH_CACHE_DIR, or give --output-dir"
    if problem:
        raise BuildError(problem)
    name = libname or _cache.file_name(facts, chosen)
    return Target(facts, chosen, os.path.join(folder, name), libname is not None)


def _backend_problem(facts: Facts, backend: str) -> str:
    if backend not in _cache.BACKENDS:
        return f"torch {facts.torch} is built for {backend}, dlx-torch-ext builds for {', '.join(_cache.BACKENDS)} only"
    if backend in ("cuda", "rocm") and facts.backend != backend:
        return (
            f"a {backend} library needs a torch built for {backend}, and torch {facts.torch} is built for"
            f" {facts.backend}: install such a torch first"
        )
    if backend == "torch_npu" and facts.torch_npu is None:
        return f"torch_npu is not installed beside torch {facts.torch}: pip install torch-npu first"
    return ""


def _build_target(target: Target, torch_folder: str) -> None:
    tools = find_tools(torch_folder)
    folder, name = os.path.split(target.path)
    with _locked(folder, name) as alone:
        if alone:
            for remains in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.build-*")):
                shutil.rmtree(remains, ignore_errors=True)  # of a process that was killed
        if not target.user_named and os.path.exists(target.path):
            problem = _problem_in_a_child(target.path, target.backend)
            if not problem:
                say(f"{target.name} is built already")
                return
            say(f"building it again: the library that is there does not work: {problem}")
        npu = f", torch_npu {target.facts.torch_npu}" if target.backend == "torch_npu" else ""
        say(f"building {target.name} with {tools.cmake} for the torch in {torch_folder}{npu}")
        work = tempfile.mkdtemp(prefix=f".{name}.build-", dir=folder)
        try:
            built = compile_library(tools, target.facts, target.backend, work)
            say("checking it in a process of its own")
            problem = _problem_in_a_child(built, target.backend)
            if problem:
                raise BuildError(f"the library was built but does not work: {problem}")
            os.replace(built, target.path)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: str, name: str) -> Iterator[bool]:
    """Holds the lock of the file `name` in `folder`, so that one process at a time builds it. True, or False on a file
    system without locks. BuildError if the folder cannot be written, or another process holds the lock too long."""

    def announce(holder: str) -> None:
        say(f"waiting for {holder}, which is building the same library")

    try:
        os.makedirs(folder, exist_ok=True)
        with locked(os.path.join(folder, f".{name}.lock"), _TIMEOUT_S, announce) as alone:
            yield alone
    except LockHeld as error:
        raise BuildError(
            f"{error} has been building {name} for more than {_TIMEOUT_S:.0f} s: wait for it, or end it"
        ) from None
    except OSError as error:
        raise BuildError(
            f"{folder} cannot be written: {error.strerror or error}: give --output-dir, or set DLX_TORCH_CACHE_DIR"
        ) from None


def _problem_in_a_child(path: str, backend: str) -> str:
    """What is wrong with the library at `path`, or "". A child process loads it, so that a crash is reported too."""
    outcome = child.run(f"from dlx_torch_ext._cli import build; build.check({path!r}, {backend!r})")
    return "" if outcome.ok else outcome.detail


def check(path: str, backend: str) -> None:
    """Runs in the child process: the checks that a library has to pass before it is attached."""
    from .. import _attach

    torch, problem = _facts.import_torch()
    candidate = _resolve.Candidate("built here", "dlx", _resolve.Accepted(""), backend, path, exact=True)
    verdict = _attach.load_and_check(torch, _facts.read(torch, problem), candidate)
    child.answer(*((False, verdict.reason) if isinstance(verdict, _resolve.Rejected) else (True, "")))


def _how_it_is_used(target: Target) -> str:
    """A sentence for the user: how the library will be used."""
    resolution = _resolve.resolve(target.facts, read_manifest(), _cache.built_for(target.facts))
    if resolution.library == target.path:
        return "the next `import torch` uses it"
    return f"set DLX_TORCH_LIBRARY={target.path} to use it; without that: {resolution.reason}"
