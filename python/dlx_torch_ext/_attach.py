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
    """What was put on `tensor_class`, and what of its own __dict__ that replaced; a name not in `replaced` was not
    there."""

    tensor_class: Any
    candidate: Candidate
    library: Library
    installed: Mapping[str, object]
    replaced: Mapping[str, object]

    def is_installed(self, name: str = CAPSULE_ATTRIBUTE) -> bool:
        """Whether the class still holds what was put there under this name."""
        return name in self.installed and vars(self.tensor_class).get(name) is self.installed[name]

    def without_ours(self, name: str) -> object:
        """What an attribute would read as if nothing of ours were there."""
        if not self.is_installed(name):
            return getattr(self.tensor_class, name, None)
        return self.replaced.get(name, getattr(super(self.tensor_class, self.tensor_class), name, None))


# Guarded by _lock. It is re-entrant because torch's own code runs while it is held, and may lead back here; torch is
# never imported while it is held, because the import holds a lock of its own and ends here too, through the entry
# point.
_lock = threading.RLock()
_attached: _Attached | None = None
_last_attempt: Resolution | None = None
_warned_too_late = False


def attach_imported(torch: Any, problem: str = "", prefer: str | None = None) -> None:
    """Does what `attach` does to a torch that is imported already, or to None, and describes nothing."""
    with _lock:
        new = _attach_best(torch, problem, prefer)
    if new and "tvm_ffi" in sys.modules:
        _warn_if_too_late(torch)


def detach() -> None:
    """Restores what torch.Tensor held before `attach`. An attribute that somebody else has replaced since is left
    alone.

    The library stays loaded: consumers may keep the table for as long as the process lives.
    """
    global _last_attempt
    with _lock:
        _uninstall()
        _last_attempt = None


def facts_without_ours(torch: Any, problem: str) -> Facts:
    """The facts, with the table that torch.Tensor would have without us."""
    with _lock:
        if _attached is None or _attached.tensor_class is not getattr(torch, "Tensor", None):
            return _facts.read(torch, problem)
        table_attributes = {name: _attached.without_ours(name) for name in (CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE)}
        return _facts.read(torch, problem, table_attributes)


def decide(facts: Facts) -> Resolution:
    """What an attempt to attach would do; loads nothing."""
    return _resolve.resolve(facts, _variants.read_manifest(), _cache.built_for(facts))


def snapshot(torch: Any, problem: str) -> tuple[Facts, Candidate | None, Resolution | None]:
    """The facts without ours, the candidate that is on torch.Tensor now, if one of ours is, and the trace of the last
    attempt to attach, if there was one; all at the same moment."""
    with _lock:
        ours = _attached_to(torch)
        return facts_without_ours(torch, problem), None if ours is None else ours.candidate, _last_attempt


def _attached_to(torch: Any) -> _Attached | None:
    """What of ours is on this torch's Tensor now."""
    if _attached is not None and _attached.tensor_class is getattr(torch, "Tensor", None) and _attached.is_installed():
        return _attached
    return None


def _attach_best(torch: Any, problem: str, prefer: str | None) -> bool:
    """Brings torch.Tensor to the first candidate that passes every check; True if that put a table on it."""
    global _last_attempt
    ours = _attached_to(torch)
    if ours is not None and prefer is None:
        return False
    facts = facts_without_ours(torch, problem)
    if prefer is not None:
        facts = facts.replace(settings=facts.settings.replace(prefer=prefer))
    chosen, library, _last_attempt = _first_that_passes(torch, facts, decide(facts))
    if ours is not None and library is not None and ours.library == library:
        return False
    _uninstall()
    if chosen is None or library is None:
        return False
    _install(torch.Tensor, chosen, library)
    return True


def _first_that_passes(
    torch: Any, facts: Facts, resolution: Resolution
) -> tuple[Candidate | None, Library | None, Resolution]:
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

    problem = _layout.problem(torch, facts.line)
    if problem:
        return Rejected(problem)
    library = _load.load(candidate, facts)
    if not isinstance(library, Rejected):
        problem = _selftest.problem(torch, library.table, ours=candidate.provider == "dlx")
        if problem:
            return Rejected(f"{library.path}: {problem}")
    return library


def _install(tensor_class: Any, candidate: Candidate, library: Library) -> None:
    global _attached
    from ._capsule import make_capsule  # only CPython has what it needs

    installed: dict[str, object] = {CAPSULE_ATTRIBUTE: make_capsule(library.table)}
    if not hasattr(tensor_class, LEGACY_ATTRIBUTE):
        installed[LEGACY_ATTRIBUTE] = library.table
    replaced = {name: vars(tensor_class)[name] for name in installed if name in vars(tensor_class)}
    _attached = _Attached(tensor_class, candidate, library, installed, replaced)
    for name, value in installed.items():
        setattr(tensor_class, name, value)


def _uninstall() -> None:
    global _attached
    if _attached is None:
        return
    for name in _attached.installed:
        if not _attached.is_installed(name):
            continue
        if name in _attached.replaced:
            setattr(_attached.tensor_class, name, _attached.replaced[name])
        else:
            delattr(_attached.tensor_class, name)
    _attached = None


def _warn_if_too_late(torch: Any) -> None:
    import warnings

    from . import _tvm_ffi

    global _warned_too_late
    # The overlay refuses what torch's own table refuses, so it cannot be told apart by a refusal.
    ours = _attached_to(torch)
    if _warned_too_late or ours is None or ours.candidate.provider != "dlx":
        return
    if _tvm_ffi.ignores_our_table(torch):
        _warned_too_late = True
        warnings.warn(_tvm_ffi.TOO_LATE_WARNING, RuntimeWarning, stacklevel=4)
