"""`dlx-torch doctor`: says whose table torch.Tensor has, and why."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

IN_USE, NONE, SELFTEST_FAILED = 0, 1, 3  # 2 is argparse's, for wrong usage


def run(*, as_json: bool, selftest: bool, everything: bool) -> int:
    """Prints the report and returns the exit code: 0 a table is in use, 1 none is, 3 the self-test failed."""
    with _torch_prints_to_stderr():
        report = _examine(selftest)
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        from .screen import Screen
        from .summary import write

        screen = Screen()
        write(report, screen, everything)
        screen.show()
    if report["selftest"] is not None and report["selftest"]["ok"] is False:
        return SELFTEST_FAILED
    return IN_USE if report["in_use"] else NONE


def _examine(selftest: bool) -> dict[str, Any]:
    from .. import _autoload
    from . import child

    outcome = child.run() if selftest else None
    if outcome is not None and outcome.crashed:
        # What killed the child must not be attached in this process.
        _autoload.suspended = "the self-test crashed, so the doctor attaches nothing"
    from .report import collect

    report = collect()
    if outcome is not None:
        report["selftest"] = {"ok": outcome.ok, "detail": outcome.detail}
        if outcome.ok is False:
            report["verdict"] = f"self-test failed: {outcome.detail}"
    return report


@contextlib.contextmanager
def _torch_prints_to_stderr() -> Iterator[None]:
    """Sends what torch and its extensions print, from Python or from C, to stderr: stdout is for the report."""
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
