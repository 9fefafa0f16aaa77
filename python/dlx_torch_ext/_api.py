"""What a person calls: `attach`, `status`, `detach` and `resolve`. `import torch` does not import this module."""

from __future__ import annotations

from typing import Any

from . import _attach, _autoload, _facts
from ._attach import detach
from ._facts import Facts
from ._resolve import Resolution
from ._settings import PREFERENCES
from ._status import Status, describe

__all__ = ["AttachError", "attach", "detach", "resolve", "status"]


class AttachError(RuntimeError):
    """`attach(strict=True)` ended without a table; the text says why, in one line."""


def attach(prefer: str | None = None, strict: bool = False) -> Status:
    """Makes sure that torch.Tensor has the best table there is, and says which.

    prefer: "upstream" keeps a torch's own table, "dlx" replaces it where one of our libraries fits; None takes
    DLX_TORCH_PREFER, by default "upstream", and leaves a table of ours that is already there. Imports torch if it is
    installed; asks no device, except where a CUDA or ROCm build and torch_npu are both installed.

    May be called any number of times from any thread. What cannot be attached is told by the Status; with strict=True
    the lack of any table raises AttachError. ValueError for another `prefer`. RuntimeWarning, once, if tvm-ffi has seen
    a tensor and will ignore the table.
    """
    if prefer is not None and prefer not in PREFERENCES:
        raise ValueError(f'prefer={prefer!r} is neither "upstream" nor "dlx"')
    torch, problem = _facts.import_torch()
    _attach.attach_imported(torch, problem, prefer)
    result = _status(torch, problem)
    if strict and result.provider == "none":
        raise AttachError(f"torch.Tensor has no DLPack exchange table: {result.reason}")
    return result


def status() -> Status:
    """What table torch.Tensor has now, whose it is and why. Imports torch if it is installed; changes nothing else."""
    return _status(*_facts.import_torch())


def resolve(facts: Facts | None = None) -> Resolution:
    """The decision and its trace; loads nothing and changes nothing.

    Without facts it reads those of this process, importing torch if it is installed, as if nothing of ours were
    attached.
    """
    if facts is None:
        facts = _attach.facts_without_ours(*_facts.import_torch())
    return _attach.decide(facts)


def _status(torch: Any, problem: str) -> Status:
    facts, ours, last = _attach.snapshot(torch, problem)
    not_tried = ""
    if last is None:
        not_tried = f"nothing is attached: {_autoload.why_not_attached(facts) or 'call dlx_torch_ext.attach()'}"
    return describe(facts, ours, last or _attach.decide(facts), not_tried)
