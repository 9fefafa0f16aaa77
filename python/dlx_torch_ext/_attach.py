"""Attaches and detaches: decides, checks the library that was chosen, and lets `_installed` change torch.Tensor."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from . import _cache, _facts, _installed, _resolve, _variants
from ._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE
from ._facts import Facts
from ._installed import Installed
from ._resolve import Candidate, Rejected, Resolution

if TYPE_CHECKING:
    from ._load import Library


# The lock of this process, by its number: a forked child makes one of its own, because the thread that held its
# parent's does not exist there. It is re-entrant, because code of torch runs while we hold it and may call this module
# again. We never import torch while we hold it, because that could deadlock: another thread that imports torch holds
# Python's import lock and waits for ours in our entry point.
_locks: dict[int, Any] = {}
_last_attempt: Resolution | None = None
_warned_too_late = False


def _lock() -> Any:
    process = os.getpid()
    return _locks.get(process) or _locks.setdefault(process, threading.RLock())


def attach_imported(torch: Any, problem: str = "", prefer: str | None = None) -> None:
    """What `attach` does after it has imported torch: `torch` is the module, or None where `problem` says why there is
    none."""
    with _lock():
        new = _attach_best(torch, problem, prefer)
    if new and "tvm_ffi" in sys.modules:
        _warn_if_too_late(torch)


def detach() -> None:
    """Gives torch.Tensor back the attributes that it had before `attach`. An attribute that somebody else has replaced
    since then stays as it is.

    The library stays loaded, because consumers may use its table until the process ends.
    """
    global _last_attempt
    with _lock():
        _installed.remove(sys.modules.get("torch"))
        _last_attempt = None


def facts_without_ours(torch: Any, problem: str) -> Facts:
    """The facts about `torch`, with the table that torch.Tensor would have without us."""
    with _lock():
        installed = _installed.read(torch)
        if installed is None:
            return _facts.read(torch, problem)
        table_attributes = {name: installed.without_ours(name) for name in (CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE)}
        return _facts.read(torch, problem, table_attributes)


def decide(facts: Facts) -> Resolution:
    """Which table an attempt to attach would choose. Loads no library."""
    return _resolve.resolve(facts, _variants.read_manifest(), _cache.built_for(facts))


def snapshot(torch: Any, problem: str) -> tuple[Facts, Installed | None, Resolution | None]:
    """What `status` describes, all read at one moment: the facts without ours, what we have put on torch.Tensor, and
    the result of the last attempt to attach; None where there is no such thing."""
    with _lock():
        return facts_without_ours(torch, problem), _installed.read(torch), _last_attempt


def _attach_best(torch: Any, problem: str, prefer: str | None) -> bool:
    """Attaches the first candidate that passes every check. True if that put a new table on torch.Tensor.

    Where none passes, a table of ours that is there stays: it works, whatever has happened to its file since.
    """
    global _last_attempt
    ours = _current(torch)
    if ours is not None and prefer is None:
        return False
    facts = facts_without_ours(torch, problem)
    if prefer is not None:
        facts = facts.replace(settings=facts.settings.replace(prefer=prefer))
    chosen, library, _last_attempt = _first_that_passes(torch, facts, decide(facts))
    if chosen is None:
        return False
    if library is None:  # the table that is there without ours
        if ours is not None:
            _installed.remove(torch)
        return False
    if ours is not None and ours.table == library.table:
        return False
    _installed.remove(torch)
    _installed.put(torch.Tensor, chosen, library)
    return True


def _current(torch: Any) -> Installed | None:
    """What we have on the Tensor of this `torch`, if it is in use now."""
    installed = _installed.read(torch)
    return installed if installed is not None and installed.is_current() else None


def _first_that_passes(
    torch: Any, facts: Facts, resolution: Resolution
) -> tuple[Candidate | None, Library | None, Resolution]:
    """The first accepted candidate that also passes the checks, its library (None for a table that is there already),
    and `resolution` with the reasons of those that failed."""
    candidates = list(resolution.candidates)
    reason = resolution.reason
    for index, candidate in enumerate(candidates):
        if isinstance(candidate.verdict, Rejected):
            continue
        library = load_and_check(torch, facts, candidate) if candidate.provider in ("dlx", "overlay") else None
        if not isinstance(library, Rejected):
            return candidate, library, Resolution(tuple(candidates), candidate.verdict.reason)
        candidates[index] = candidate.replace(verdict=library)
        reason = _resolve.why_not_used(candidates[index])
    return None, None, Resolution(tuple(candidates), reason)


def load_and_check(torch: Any, facts: Facts, candidate: Candidate) -> Library | Rejected:
    """The candidate's library, if it passes the checks of _layout, _load and _selftest. Each check makes it safe to run
    the next one."""
    assert facts.line is not None, "resolve accepts no library for a torch without a version"
    # Imported here, because a torch with a table of its own does not need them at `import torch`.
    from . import _layout, _load, _selftest

    problem = _layout.problem(torch, facts.line)
    if problem:
        return Rejected(problem)
    library = _load.load(candidate, facts)
    if not isinstance(library, Rejected):
        problem = _selftest.problem(torch, library.table, ours=candidate.provider == "dlx")
        if problem:
            return Rejected(f"{library.path}: {problem}; report this with the output of `dlx-torch doctor --json`")
    return library


def _warn_if_too_late(torch: Any) -> None:
    import warnings

    from . import _tvm_ffi
    from ._errors import AttachWarning
    from ._ids import with_ids

    global _warned_too_late
    # The test needs a refusal that only our table gives. The overlay refuses as torch's own table does.
    ours = _current(torch)
    if _warned_too_late or ours is None or ours.candidate.provider != "dlx":
        return
    if _tvm_ffi.ignores_our_table(torch):
        _warned_too_late = True
        warnings.warn(with_ids(_tvm_ffi.TOO_LATE_WARNING), AttachWarning, stacklevel=4)
