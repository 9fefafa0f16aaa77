"""Describes what torch.Tensor has now, for people and for programs."""

from __future__ import annotations

from ._facts import Facts
from ._record import Record
from ._resolve import Accepted, Candidate, Resolution


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


def describe(facts: Facts, ours: Candidate | None, resolution: Resolution, not_tried: str) -> Status:
    """`ours` is on torch.Tensor now, if anything of ours is. `resolution` is the latest attempt to attach, or, if
    `not_tried` says why there was none, what an attempt would do."""
    candidates = resolution.candidates
    if ours is not None:
        return Status(ours.provider, ours.name, ours.library, ours.backend, ours.verdict.reason, candidates)
    table = facts.table
    provider = "none" if table is None else table.provider
    if resolution.provider == "none" or resolution.provider == provider:
        reason = resolution.reason
    else:
        reason = not_tried or "the table that was attached is gone: call dlx_torch_ext.attach() again"
    if table is not None and resolution.provider != provider:
        reason = f"{_WORDS[provider]} is there; {reason}"
    return Status(provider, None, None if table is None else table.library, None, reason, candidates)


_WORDS = {"upstream": "torch's own table", "foreign": "another package's table"}
