"""Puts a table on torch.Tensor and takes it off again, and is the only one that does."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _cache, _facts, _resolve, _variants
from ._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE
from ._facts import Facts
from ._record import Record
from ._resolve import Candidate, Rejected, Resolution

if TYPE_CHECKING:
    from ._load import Library


class _Attached(Record):
    """What was put on `tensor`, a class, and what its own __dict__ held before; a name not in `before` was not
    there."""

    tensor: Any
    candidate: Candidate
    library: Library
    put: Mapping[str, object]
    before: Mapping[str, object]

    def in_place(self, name: str = CAPSULE_ATTRIBUTE) -> bool:
        """Whether the class still holds what was put there under this name."""
        return name in self.put and vars(self.tensor).get(name) is self.put[name]

    def beneath(self, name: str) -> object:
        """What an attribute would read as if nothing of ours were there."""
        if not self.in_place(name):
            return getattr(self.tensor, name, None)
        return self.before.get(name, getattr(super(self.tensor, self.tensor), name, None))


# Guarded by _lock. It is re-entrant because torch's own code runs while it is held, and may lead back here; torch is
# never imported while it is held, because the import holds a lock of its own and ends here too, through the entry
# point.
_lock = threading.RLock()
_attached: _Attached | None = None
_last: Resolution | None = None
_warned = False


def attach_imported(torch: Any, problem: str = "", prefer: str | None = None) -> None:
    """Does what `attach` does to a torch that is imported already, or to None, and describes nothing."""
    with _lock:
        new = _attach(torch, problem, prefer)
    if new and "tvm_ffi" in sys.modules:
        _warn_if_too_late(torch)


def detach() -> None:
    """Restores what torch.Tensor held before `attach`. An attribute that somebody else has replaced since is left
    alone.

    The library stays loaded: consumers may keep the table for as long as the process lives.
    """
    global _last
    with _lock:
        _uninstall()
        _last = None


def facts_without_ours(torch: Any, problem: str) -> Facts:
    """The facts, with the table that torch.Tensor would have without us."""
    with _lock:
        if _attached is None or _attached.tensor is not getattr(torch, "Tensor", None):
            return _facts.read(torch, problem)
        beneath = {name: _attached.beneath(name) for name in (CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE)}
        return _facts.read(torch, problem, beneath)


def decide(facts: Facts) -> Resolution:
    """What an attempt to attach would do; loads nothing."""
    return _resolve.resolve(facts, _variants.read_manifest(), _cache.built_for(facts))


def current(torch: Any, problem: str) -> tuple[Facts, Candidate | None, Resolution | None]:
    """The facts without ours, the candidate that is on torch.Tensor now, if one of ours is, and the trace of the last
    attempt to attach, if there was one; all at the same moment."""
    with _lock:
        ours = _ours(torch)
        return facts_without_ours(torch, problem), None if ours is None else ours.candidate, _last


def _ours(torch: Any) -> _Attached | None:
    """What of ours is on this torch's Tensor now."""
    if _attached is not None and _attached.tensor is getattr(torch, "Tensor", None) and _attached.in_place():
        return _attached
    return None


def _attach(torch: Any, problem: str, prefer: str | None) -> bool:
    """Brings torch.Tensor to the first candidate that passes every check; True if that put a table on it."""
    global _last
    ours = _ours(torch)
    if ours is not None and prefer is None:
        return False
    facts = facts_without_ours(torch, problem)
    if prefer is not None:
        facts = facts.replace(settings=facts.settings.replace(prefer=prefer))
    chosen, library, _last = _try(torch, facts, decide(facts))
    if ours is not None and library is not None and ours.library == library:
        return False
    _uninstall()
    if chosen is None or library is None:
        return False
    _install(torch.Tensor, chosen, library)
    return True


def _try(torch: Any, facts: Facts, resolution: Resolution) -> tuple[Candidate | None, Library | None, Resolution]:
    """The first accepted candidate that holds, its library if it has one to load, and the trace of how it went."""
    candidates = list(resolution.candidates)
    reason = resolution.reason
    for index, candidate in enumerate(candidates):
        if isinstance(candidate.verdict, Rejected):
            continue
        library = load_and_check(torch, facts, candidate) if candidate.provider in ("dlx", "overlay") else None
        if not isinstance(library, Rejected):
            return candidate, library, Resolution(tuple(candidates), candidate.verdict.reason)
        candidates[index] = candidate.replace(verdict=library)
        reason = f"{candidate.name}: {library.reason}"
    return None, None, Resolution(tuple(candidates), reason)


def load_and_check(torch: Any, facts: Facts, candidate: Candidate) -> Library | Rejected:
    """The candidate's library after the three checks, in the order in which each makes the next one safe."""
    assert facts.line is not None, "resolve accepts no library for a torch without a version"
    # Where torch has its own table, this is never reached and need not be imported.
    from . import _layout, _load, _selftest

    flaw = _layout.problem(torch, facts.line)
    if flaw:
        return Rejected(flaw)
    library = _load.load(candidate, facts)
    if not isinstance(library, Rejected):
        flaw = _selftest.problem(torch, library.table, ours=candidate.provider == "dlx")
        if flaw:
            return Rejected(f"{library.path}: {flaw}")
    return library


def _install(tensor: Any, candidate: Candidate, library: Library) -> None:
    global _attached
    from ._capsule import make_capsule  # only CPython has what it needs

    put: dict[str, object] = {CAPSULE_ATTRIBUTE: make_capsule(library.table)}
    if not hasattr(tensor, LEGACY_ATTRIBUTE):
        put[LEGACY_ATTRIBUTE] = library.table
    before = {name: vars(tensor)[name] for name in put if name in vars(tensor)}
    _attached = _Attached(tensor, candidate, library, put, before)
    for name, value in put.items():
        setattr(tensor, name, value)


def _uninstall() -> None:
    global _attached
    if _attached is None:
        return
    for name in _attached.put:
        if not _attached.in_place(name):
            continue
        if name in _attached.before:
            setattr(_attached.tensor, name, _attached.before[name])
        else:
            delattr(_attached.tensor, name)
    _attached = None


def _warn_if_too_late(torch: Any) -> None:
    import warnings

    from . import _tvm_ffi

    global _warned
    # The overlay refuses what torch's own table refuses, so it cannot be told apart by a refusal.
    ours = _ours(torch)
    if not _warned and ours is not None and ours.candidate.provider == "dlx" and _tvm_ffi.ignores_our_table(torch):
        _warned = True
        warnings.warn(_tvm_ffi.TOO_LATE, RuntimeWarning, stacklevel=4)
