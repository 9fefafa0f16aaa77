"""`dlx-torch build`: compiles a library for exactly the torch that is installed, and puts it where `resolve` finds it.

The library is compiled in a folder of its own and checked in a process of its own. Only then is it renamed to its final
name, so a failure leaves no file behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from .. import _cache, _facts, _resolve
from .._errors import BuildError
from .._ids import with_ids
from .._variants import read_manifest
from . import child, folders
from .compile import Tools, compile_library, find_tools, say
from .lock import LockHeld, NotALock, locked
from .target import Target, plan

_TIMEOUT_S = 900.0
_AGAIN = "mend that, and run `dlx-torch build` again"


def run(backend: str | None, output_dir: str | None, libname: str | None) -> int:
    """Builds, prints the path of the library and returns 0. On failure it says why in one line, followed by the output
    of a compiler that failed, and returns 1."""
    # Extensions that torch would import are not needed here, and may fail: a build machine may lack Ascend's libraries.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    torch, problem = _facts.import_torch()
    try:
        with folders.told("its preparation", _AGAIN):
            target = plan(_facts.read(torch, problem), backend, output_dir, libname)
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


def _build_target(target: Target, torch_folder: str) -> None:
    """Builds the library, unless a working one is there. All ranks of a job may come here at once, so what is there is
    tried without the lock, side by side: before the lock is asked for, and again if it was built meanwhile."""
    folders.prepare(os.path.dirname(target.path), private=target.in_cache)
    tried = None
    while True:
        found = None if target.user_named else _state(target.path)
        if found is not None:
            problem = _problem_in_a_child(target.path, target.backend)
            if not problem:
                say(f"{target.name} is built already")
                return
            tried = found
            say(f"building it again: the library that is there does not work: {problem}")
        tools = find_tools(torch_folder)
        with _locked(target.path):
            if target.user_named or _state(target.path) in (None, tried):
                _build_alone(target, tools)
                return


def _state(path: str) -> tuple[int, ...] | None:
    """Something that changes when another file comes to `path`; None if there is none."""
    try:
        state = os.lstat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _build_alone(target: Target, tools: Tools) -> None:
    folder, name = os.path.split(target.path)
    folders.clear(folder, name)
    npu = f", torch_npu {target.facts.torch_npu}" if target.backend == "torch_npu" else ""
    say(f"building {target.name} with {tools.cmake} for the torch in {tools.torch}{npu}")
    with folders.told("making a folder to build in"):
        work = folders.workplace(folder, name)
    try:
        with folders.told("compiling", _AGAIN):
            built = compile_library(tools, target.facts, target.backend, work)
        with folders.told("finishing the library"):
            # Whatever the umask is, others must not be able to write to it, nor to the folder that it is tried in.
            finished = os.path.join(work, f"finished-{os.path.basename(built)}")
            os.replace(built, finished)
            os.chmod(finished, 0o755)
        say("checking it in a process of its own")
        problem = _problem_in_a_child(finished, target.backend)
        if problem:
            raise BuildError(f"the library was built but does not work: {problem}")
        with folders.told("moving the library to its place"):
            os.replace(finished, target.path)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Holds the lock of the library `path`, so that one process at a time builds it. BuildError if it cannot be had, or
    another process holds it too long."""

    def announce(holder: str) -> None:
        say(f"waiting for {holder}, which is building the same library")

    folder, name = os.path.split(path)
    with contextlib.ExitStack() as stack:
        try:
            with folders.told("taking the lock"):
                stack.enter_context(locked(os.path.join(folder, f".{name}.lock"), _TIMEOUT_S, announce))
        except LockHeld as error:
            raise BuildError(
                f"{error} has been building {name} for more than {_TIMEOUT_S:.0f} s: wait for it, or end it"
            ) from None
        except NotALock as error:
            raise BuildError(str(error)) from None
        yield


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
