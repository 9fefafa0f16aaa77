"""What `dlx-torch build` is to build, for which torch and where; or why it cannot."""

from __future__ import annotations

import os

from .. import _cache, _resolve
from .._errors import BuildError
from .._facts import Facts
from .._record import Record
from .._variants import human_name

_SYSTEMS = {"cuda": ("linux", "windows"), "rocm": ("linux",), "torch_npu": ("linux",)}
_VERSION_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_")


class Target(Record):
    """What to build, and the path of the result. `user_named`: the user has chosen the name of the file. `in_cache`: it
    goes to the cache, where `import torch` looks."""

    facts: Facts
    backend: str
    path: str
    user_named: bool
    in_cache: bool = True

    @property
    def name(self) -> str:
        return human_name(self.facts.torch, self.facts.cxx11_abi, self.backend)


def refused_on(system: str, backend: str | None) -> str:
    """Why a library for `backend` cannot be built on `system`, or ""."""
    systems = _SYSTEMS.get(backend or "", (system,))
    if system in systems:
        return ""
    return f"a {backend} library can be built on {' and '.join(systems)} only, this is {system}"


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
    return Target(facts, chosen, os.path.join(folder, name), libname is not None, in_cache=not output_dir)


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
