"""Asks the loader for a library, in a process of its own, because the loader may hang there."""

from __future__ import annotations

from dlx_torch_ext._load import load
from dlx_torch_ext._resolve import Accepted, Candidate, Rejected

from tests.support.installation import facts


def reason_for(path: str, name: str, exact: bool) -> str:
    """Why the loader rejects the library; "" if it does not."""
    verdict = load(Candidate(name, "dlx", Accepted(""), "cpu", path, exact), facts())
    return verdict.reason if isinstance(verdict, Rejected) else ""
