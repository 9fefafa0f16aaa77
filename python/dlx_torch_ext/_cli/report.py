"""Collects what the doctor reports, as plain data with a stable shape: keys are added, never renamed."""

from __future__ import annotations

import sys
from typing import Any

from .. import _accelerator, _api, _attach, _autoload, _facts
from .._dlpack import function_addresses
from .._facts import Facts
from .._ids import find, with_ids
from .._locate import locate
from .._resolve import Accepted, Candidate
from .._settings import DLX
from .._status import Status
from . import copies
from .findings import findings

SCHEMA = 1


def collect() -> dict[str, Any]:
    """The report on this process, which imports torch as a user's process would. Never raises for what it finds."""
    import dlx_torch_ext

    torch, problem = _facts.import_torch()
    status = _api.status()
    facts = _attach.facts_without_ours(torch, problem)
    # A torch that does not import has a place, too.
    torch_path = copies.location(torch) or next(iter(copies.on_path("torch")), "")
    path = copies.location(dlx_torch_ext)
    warned = [
        *findings(status, facts),
        *copies.warnings("torch", "torch", torch_path),
        *copies.warnings("dlx_torch_ext", "dlx-torch-ext", path),
    ]
    return {
        "schema": SCHEMA,
        "version": dlx_torch_ext.__version__,
        "path": path,
        "verdict": verdict(status, facts),
        "in_use": status.provider != "none",
        "status": {key: getattr(status, key) for key in ("provider", "variant", "library", "backend", "reason")},
        "facts": {**_facts_of(facts), "torch_path": torch_path or None, "executable": sys.executable},
        "settings": facts.settings.as_dict(),
        "findings": [with_ids(finding) for finding in warned],
        "problems": [
            {"id": entry.id, "text": text, "explain": f"dlx-torch explain {entry.id}"}
            for text in ([] if status.provider in ("dlx", "overlay", "upstream") else [status.reason]) + warned
            for entry in find(text)
        ],
        "autoload": {"fired": _autoload.fired, "note": _autoload.why_not_attached(facts)},
        "functions": functions(torch),
        "candidates": [_candidate(c) for c in status.candidates],
        "on_request": on_request(facts) if status.provider == "upstream" else None,
        "selftest": None,
    }


def verdict(status: Status, facts: Facts) -> str:
    """The one line that answers: is there a table, and whose?"""
    torch = f"torch {facts.torch}"
    place = status.library or "its owner is unknown"
    foreign = f"{torch} has another package's table: {place}"
    if facts.table is not None and facts.table.of_torch_npu:
        foreign = f"{torch} has torch_npu's own table: {place}"
    return {
        "dlx": f"{torch} has the table of dlx-torch-ext: {status.variant}",
        "overlay": f"{torch} has its own table with dlx-torch-ext's functions for NPU: {status.variant}",
        "upstream": f"{torch} has its own table, and dlx-torch-ext leaves it alone",
        "foreign": foreign,
        "none": f"no table: {status.reason}",
    }[status.provider]


def on_request(facts: Facts) -> str | None:
    """The library of ours that DLX_TORCH_PREFER=dlx would take in place of torch's own table, if one fits."""
    if facts.settings.prefer == DLX:
        return None
    resolution = _api.resolve(facts.replace(settings=facts.settings.replace(prefer=DLX)))
    return resolution.variant if resolution.provider == "dlx" else None


def functions(torch: Any) -> list[dict[str, Any]]:
    """For each function of the table on torch.Tensor: its library and its exported symbol, None where the platform
    cannot tell."""
    if sys.implementation.name != "cpython":
        return []
    from .._capsule import table_on  # which needs CPython's C API

    table = table_on(torch)
    rows = []
    for name, address in function_addresses(table).items() if table else ():
        place = locate(address)
        rows.append({"function": name, "library": place.library or None, "symbol": place.symbol or None})
    return rows


def _facts_of(facts: Facts) -> dict[str, Any]:
    return {
        "torch": facts.torch,
        "torch_problem": facts.torch_problem or facts.release.problem or None,
        "release": facts.torch is not None and not facts.release.problem,
        "cxx11_abi": facts.cxx11_abi,
        "build": facts.backend if facts.torch else None,
        "torch_npu": facts.torch_npu,
        "torch_npu_loaded": facts.torch_npu_loaded,
        "libtorch_npu_loaded": _accelerator.is_loaded("libtorch_npu.so") if facts.npu else False,
        "platform": facts.platform,
        "python": facts.python,
        "implementation": facts.implementation,
        "free_threaded": facts.free_threaded,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "provider": candidate.provider,
        "backend": candidate.backend,
        "library": candidate.library,
        "accepted": isinstance(candidate.verdict, Accepted),
        "reason": candidate.verdict.reason,
    }
