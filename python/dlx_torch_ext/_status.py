"""Describes what torch.Tensor has now, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable

from ._dlpack import function_addresses
from ._facts import Facts, Table
from ._ids import with_ids
from ._installed import Installed
from ._locate import locate
from ._record import Record
from ._resolve import LIBRARY_VARIABLE, PREFER_DLX, Accepted, Candidate, Rejected, Resolution, why_not_used


class Status(Record):
    """Whose table torch.Tensor has.

    `provider`: "dlx" (ours), "overlay" (torch's own with NPU's functions replaced), "upstream" (torch's own), "foreign"
    (another package's) or "none". `variant`, `library` (a path) and `backend` describe a table of ours; `library` also
    says where another's table is, where the platform can tell. `reason` is one line. `candidates` holds every table
    that was considered, and why it was accepted or rejected. `str()` is one line.
    """

    provider: str
    variant: str | None
    library: str | None
    backend: str | None
    reason: str
    candidates: tuple[Candidate, ...]

    def __repr__(self) -> str:
        # A wheel has more than 50 candidates. Here is their number; `.candidates` has them all.
        fields = [f"{name}={value!r}" for name, value in self.as_dict().items() if name != "candidates"]
        accepted = sum(isinstance(candidate.verdict, Accepted) for candidate in self.candidates)
        fields.append(f"candidates=<{len(self.candidates)} candidates, {accepted} accepted>")
        start = f"{type(self).__name__}("
        return start + f",\n{' ' * len(start)}".join(fields) + ")"

    def __str__(self) -> str:
        return f"{self.provider}: {self.reason}"


def describe(facts: Facts, ours: Installed | None, resolution: Resolution, not_tried: str) -> Status:
    """`ours`: what we have put on torch.Tensor, if anything. `resolution` is the latest attempt to attach, or, if
    `not_tried` says why there was none, what an attempt would do."""
    candidates = resolution.candidates
    if ours is None or not ours.is_current():
        table = facts.table or Table("none", 0)
        reason = _with_ignored(_reason_without_ours(facts.table, ours, resolution, not_tried), candidates)
        if table.provider in ("none", "foreign"):
            reason = with_ids(reason)
        return Status(table.provider, None, table.library, None, reason, candidates)
    it = ours.candidate
    reason = it.verdict.reason
    if not resolution.accepted and not not_tried:
        reason += f"; it stays, since the latest attempt to attach found no other: {resolution.reason}"
    return Status(it.provider, it.name, it.library, it.backend, _with_ignored(reason, candidates), candidates)


def _with_ignored(reason: str, candidates: Iterable[Candidate]) -> str:
    """`reason`, after what is wrong with the library that the user has named."""
    ignored = named_library_problem(candidates)
    return with_ids(f"{ignored}; {reason}" if ignored not in reason else reason) if ignored else reason


def named_library_problem(candidates: Iterable[Candidate]) -> str:
    """Why the library that DLX_TORCH_LIBRARY names is not used, or ""."""
    for candidate in candidates:
        if candidate.name == LIBRARY_VARIABLE and isinstance(candidate.verdict, Rejected):
            return why_not_used(candidate)
    return ""


def _reason_without_ours(table: Table | None, ours: Installed | None, resolution: Resolution, not_tried: str) -> str:
    provider = "none" if table is None else table.provider
    if resolution.provider in ("none", provider):
        reason = resolution.reason
    elif not_tried:
        reason = not_tried
    elif provider == "foreign":
        reason = f"it replaced ours: to have ours again, {PREFER_DLX}"
    else:
        reason = "the table that was attached is gone: call dlx_torch_ext.attach() again"
    if table is None:
        return reason
    owners = _owners(table, ours) if provider == "foreign" else ""
    if owners or resolution.provider != provider:
        there = "torch_npu's table is there" if table.of_torch_npu else _IS_THERE[provider]
        reason = f"{there}{owners}; {reason}"
    return reason


def _owners(table: Table, ours: Installed | None) -> str:
    """For a table with functions of several libraries: which are whose. Packages make such a table to replace one
    function of ours or of torch's, for example the stream."""
    names_by_library: dict[str, list[str]] = {}
    for name, address in function_addresses(table.address).items() if table.address else ():
        library = locate(address).library
        if ours is not None and library == ours.candidate.library:
            library = f"dlx-torch-ext ({library})"
        names_by_library.setdefault(library or "an unknown library", []).append(name)
    if len(names_by_library) < 2:
        return ""
    *few, (rest, _) = sorted(names_by_library.items(), key=lambda item: len(item[1]))
    parts = [f"its {' and '.join(names)} from {library}" for library, names in few]
    return f", with {', '.join(parts)} and the other functions from {rest}"


FOREIGN_IS_THERE = "another package's table is there"
_IS_THERE = {"upstream": "torch's own table is there", "foreign": FOREIGN_IS_THERE}
