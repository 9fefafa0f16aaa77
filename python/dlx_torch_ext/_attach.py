"""Puts a table on torch.Tensor and removes it again. No other module changes torch.Tensor."""

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
    """What we put on `tensor_class`. `installed`: the attributes that we set. `replaced`: their values before, from the
    class's own __dict__; it lacks the names that the class did not have there."""

    tensor_class: Any
    candidate: Candidate
    library: Library
    installed: Mapping[str, object]
    replaced: Mapping[str, object]

    def is_installed(self, name: str = CAPSULE_ATTRIBUTE) -> bool:
        """Whether the attribute `name` of the class is still the one that we set."""
        return name in self.installed and vars(self.tensor_class).get(name) is self.installed[name]

    def without_ours(self, name: str) -> object:
        """The value that the attribute `name` of the class would have without us."""
        if not self.is_installed(name):
            return getattr(self.tensor_class, name, None)
        return self.replaced.get(name, getattr(super(self.tensor_class, self.tensor_class), name, None))


# _lock guards the three variables below. It is re-entrant, because code of torch runs while we hold it and may call
# this module again. We never import torch while we hold it, because that could deadlock: another thread that imports
# torch holds Python's import lock and waits for _lock in our entry point.
_lock = threading.RLock()
_attached: _Attached | None = None
_last_attempt: Resolution | None = None
_warned_too_late = False


def attach_imported(torch: Any, problem: str = "", prefer: str | None = None) -> None:
    """What `attach` does after it has imported torch: `torch` is the module, or None where `problem` says why there is
    none."""
    with _lock:
        new = _attach_best(torch, problem, prefer)
    if new and "tvm_ffi" in sys.modules:
        _warn_if_too_late(torch)


def detach() -> None:
    """Gives torch.Tensor back the attributes that it had before `attach`. An attribute that somebody else has replaced
    since then stays as it is.

    The library stays loaded, because consumers may use its table until the process ends.
    """
    global _last_attempt
    with _lock:
        _uninstall()
        _last_attempt = None


def facts_without_ours(torch: Any, problem: str) -> Facts:
    """The facts about `torch`, with the table that torch.Tensor would have without us."""
    with _lock:
        if _attached is None or _attached.tensor_class is not getattr(torch, "Tensor", None):
            return _facts.read(torch, problem)
        table_attributes = {name: _attached.without_ours(name) for name in (CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE)}
        return _facts.read(torch, problem, table_attributes)


def decide(facts: Facts) -> Resolution:
    """Which table an attempt to attach would choose. Loads no library."""
    return _resolve.resolve(facts, _variants.read_manifest(), _cache.built_for(facts))


def snapshot(torch: Any, problem: str) -> tuple[Facts, Candidate | None, Resolution | None]:
    """What `status` describes, all read at one moment: the facts without ours, the candidate of ours that is attached
    now, and the result of the last attempt to attach; None where there is no such candidate or attempt."""
    with _lock:
        ours = _attached_to(torch)
        return facts_without_ours(torch, problem), None if ours is None else ours.candidate, _last_attempt


def _attached_to(torch: Any) -> _Attached | None:
    """What we have on the Tensor of this `torch` now, or None."""
    if _attached is not None and _attached.tensor_class is getattr(torch, "Tensor", None) and _attached.is_installed():
        return _attached
    return None


def _attach_best(torch: Any, problem: str, prefer: str | None) -> bool:
    """Attaches the first candidate that passes every check. True if that put a new table on torch.Tensor."""
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
        reason = f"{candidate.name}: {library.reason}"
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


def _install(tensor_class: Any, candidate: Candidate, library: Library) -> None:
    global _attached
    from ._capsule import make_capsule  # works on CPython only

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
    # The test needs a refusal that only our table gives. The overlay refuses as torch's own table does.
    ours = _attached_to(torch)
    if _warned_too_late or ours is None or ours.candidate.provider != "dlx":
        return
    if _tvm_ffi.ignores_our_table(torch):
        _warned_too_late = True
        warnings.warn(_tvm_ffi.TOO_LATE_WARNING, RuntimeWarning, stacklevel=4)
