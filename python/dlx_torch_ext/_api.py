"""What a person calls: `attach`, `status`, `detach` and `resolve`. `import torch` does not import this module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from . import _attach, _autoload, _facts
from ._attach import detach
from ._errors import AttachError, damaged
from ._facts import Facts
from ._resolve import Resolution
from ._settings import PREFERENCES
from ._status import Status, describe, named_library_problem

__all__ = ["attach", "detach", "resolve", "status"]


def attach(prefer: str | None = None, strict: bool = False) -> Status:
    """Puts the best table that is available on torch.Tensor, and returns which one torch.Tensor has then.

    prefer: "upstream" keeps a table that torch or another package has put there; "dlx" replaces it if one of our
    libraries fits, and `detach` puts it back. None means the value of DLX_TORCH_PREFER, which is "upstream" by default,
    and keeps a table of ours that is attached already.

    Imports torch if it is installed. Asks no device, except where a CUDA or ROCm build of torch and torch_npu are both
    installed. May be called any number of times, from any thread.

    If no table can be attached, or the library that DLX_TORCH_LIBRARY names cannot be used, the Status says why; with
    strict=True that raises AttachError. A table of ours that is there stays where no other can be had. Any other value
    of `prefer` raises ValueError. If tvm-ffi has seen a tensor already and will ignore the table, there is an
    AttachWarning, once in a process.
    """
    if prefer is not None and prefer not in PREFERENCES:
        raise ValueError(f'prefer={prefer!r} is neither "upstream" nor "dlx": give one of them, or None')
    with _damage_is_an_import_error():
        torch, problem = _facts.import_torch()
        _attach.attach_imported(torch, problem, prefer)
        result = _status(torch, problem)
    if strict and result.provider == "none":
        raise AttachError(f"torch.Tensor has no DLPack exchange table: {result.reason}")
    if strict and named_library_problem(result.candidates):
        raise AttachError(result.reason)
    return result


def status() -> Status:
    """Which table torch.Tensor has now, whose it is, and why. Imports torch if it is installed; changes nothing
    else."""
    with _damage_is_an_import_error():
        return _status(*_facts.import_torch())


def resolve(facts: Facts | None = None) -> Resolution:
    """Which table `attach` would choose, with the reason for every candidate. Loads no library; changes nothing.

    Without `facts` it imports torch, if it is installed, and reads the facts of this process as they are without a
    table of ours.
    """
    with _damage_is_an_import_error():
        return _attach.decide(facts or _attach.facts_without_ours(*_facts.import_torch()))


@contextlib.contextmanager
def _damage_is_an_import_error() -> Iterator[None]:
    """Modules that are imported late may turn out to be empty, or not Python."""
    try:
        yield
    except (ImportError, SyntaxError, ValueError, AttributeError, NameError) as error:
        raise damaged(error) from error


def _status(torch: Any, problem: str) -> Status:
    facts, ours, last = _attach.snapshot(torch, problem)
    not_tried = ""
    if last is None:
        not_tried = f"nothing is attached: {_autoload.why_not_attached(facts) or 'call dlx_torch_ext.attach()'}"
    return describe(facts, ours, last or _attach.decide(facts), not_tried)
