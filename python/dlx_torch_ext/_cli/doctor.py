"""`dlx-torch doctor`: says whose table torch.Tensor has, what was looked at to decide, and why everything else was
passed over."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

IN_USE, NONE, USAGE, SELFTEST_FAILED = 0, 1, 2, 3


def run(*, as_json: bool, selftest: bool) -> int:
    """Prints the report and returns the exit code: 0 a table is in use, 1 none is, 3 the self-test failed."""
    with _stdout_for_us_alone():
        report = _examine(selftest)
    print(json.dumps(report, indent=2) if as_json else "\n".join(_lines(report)))
    if report["selftest"] is not None and report["selftest"]["ok"] is False:
        return SELFTEST_FAILED
    return IN_USE if report["in_use"] else NONE


def _examine(selftest: bool) -> dict[str, Any]:
    from .. import _autoload
    from . import child

    outcome = child.run() if selftest else None
    if outcome is not None and outcome.crashed:
        _autoload.suspended = "held back by the doctor, because the self-test did not survive"
    from .report import collect

    report = collect()
    if outcome is not None:
        report["selftest"] = {"ok": outcome.ok, "detail": outcome.detail}
        if outcome.ok is False:
            report["verdict"] = f"self-test failed: {outcome.detail}"
    return report


@contextlib.contextmanager
def _stdout_for_us_alone() -> Iterator[None]:
    """Sends what torch and its extensions print, from Python or from C, to stderr: stdout is the report's."""
    print(end="", flush=True)
    try:
        ours = os.dup(1)
    except OSError:  # started without a stdout
        yield
        return
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)


def _lines(report: dict[str, Any]) -> Iterator[str]:
    facts, autoload = report["facts"], report["autoload"]
    yield f"dlx-torch: {report['verdict']}"
    for finding in report["findings"]:
        yield f"dlx-torch: but {finding}"
    yield ""
    yield "facts"
    yield _row("dlx-torch-ext", report["version"])
    if facts["torch"] is None:
        yield _row("torch", facts["torch_problem"])
    else:
        abi = "unknown" if facts["cxx11_abi"] is None else int(facts["cxx11_abi"])
        yield _row("torch", f"{facts['torch']}, built for {facts['build']}, C++ ABI {abi}")
        if facts["torch_problem"]:
            yield _row("", facts["torch_problem"])
    yield from _torch_npu(facts, report["settings"])
    threads = ", free-threaded" if facts["free_threaded"] else ""
    yield _row("python", f"{facts['implementation']} {facts['python']}{threads} on {facts['platform']}")
    if facts["torch"] is not None:
        yield _row("at import torch", autoload["note"] or "torch called dlx-torch-ext")
    yield _row("settings", _settings(report["settings"]))
    if report["settings"]["problem"]:
        yield _row("", report["settings"]["problem"])
    if report["functions"]:
        yield ""
        yield "table"
    for function in report["functions"]:
        symbol = f", {function['symbol']}" if function["symbol"] else ""
        yield f"  {function['function']:<38} {function['library'] or 'its owner is unknown'}{symbol}"
    yield ""
    yield "candidates"
    # A wheel has dozens, most of them for another torch: neighbours with the same verdict share a line.
    for (accepted, reason), alike in groupby(report["candidates"], itemgetter("accepted", "reason")):
        yield f"  {'+' if accepted else '-'} {', '.join(one['name'] for one in alike)}: {reason}"
    if not report["candidates"]:
        yield f"  none: {report['status']['reason']}"
    if report["selftest"] is not None:
        word = {True: "passed", False: "FAILED", None: "not run"}[report["selftest"]["ok"]]
        yield ""
        yield f"self-test {word}: {report['selftest']['detail']}"


def _torch_npu(facts: dict[str, Any], settings: dict[str, Any]) -> Iterator[str]:
    if facts["torch_npu"] is None:
        yield _row("torch_npu", "not installed")
        return
    loaded = "loaded" if facts["libtorch_npu_loaded"] else "not loaded"
    yield _row("torch_npu", f"{facts['torch_npu']}, libtorch_npu is {loaded}")
    waits = "waits until the host queue is empty" if settings["npu_drain"] else "does not wait for the host queue"
    yield _row("", f"asking for its stream {waits} (DLX_TORCH_NPU_DRAIN)")


def _row(name: str, value: str) -> str:
    return f"  {name:<16} {value}"


def _settings(settings: dict[str, Any]) -> str:
    from .._settings import Settings

    changed = {k: v for k, v in settings.items() if k != "problem" and v != getattr(Settings(), k)}
    return ", ".join(f"{key}={value}" for key, value in changed.items()) or "as by default"
