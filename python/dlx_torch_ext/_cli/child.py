"""Runs the self-test in a child process, so that a table which crashes does not end the doctor, which reports it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from .._record import Record

_ANSWER_MARK = "dlx-torch-selftest:"
_TIMEOUT_S = 600


class Outcome(Record):
    """`ok`: True if the test passed, False if it failed, None if there is no table to test. `crashed`: the child ended
    without an answer."""

    ok: bool | None
    detail: str
    crashed: bool = False


def run(code: str = "from dlx_torch_ext._cli import child; child.main()") -> Outcome:
    """Runs `code`, one line that has to call `answer`, in a child with this sys.path, and waits for the answer."""
    if getattr(sys, "frozen", False):
        return Outcome(
            None, "this is a frozen app, which cannot start a Python: its executable would start the app again"
        )
    program = f"import sys; sys.path[:] = {sys.path!r}; {code}"
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"the self-test did not end within {_TIMEOUT_S} seconds", crashed=True)
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(_ANSWER_MARK) and done.returncode == 0:
            return Outcome(**json.loads(line[len(_ANSWER_MARK) :]))
    return Outcome(False, _how_it_ended(done.returncode, done.stderr), crashed=True)


def main() -> None:
    """Runs in the child: attaches as a user would, and tests the table that torch.Tensor then has."""
    from .. import _api, _capsule, _facts, _selftest

    fits = bool(_api.resolve().accepted)
    status = _api.attach()
    torch, _ = _facts.import_torch()
    table = _capsule.table_on(torch)
    if status.provider == "none" or not table:
        answer(False if fits else None, status.reason)
    else:
        problem = _selftest.problem(torch, table, ours=status.provider == "dlx")
        answer(not problem, problem or f"the {status.variant or status.provider} table passed")


def answer(ok: bool | None, detail: str) -> None:
    """Sends the outcome to the parent."""
    print(f"\n{_ANSWER_MARK}{json.dumps({'ok': ok, 'detail': detail})}", flush=True)


def _how_it_ended(returncode: int, stderr: str) -> str:
    last = (stderr.strip().splitlines() or [""])[-1]
    cause = f"ended with code {returncode}"
    if returncode < 0:
        cause = f"was killed by {signal.Signals(-returncode).name}"
    return f"the self-test {cause}{': ' + last if last else ''}"
