"""Runs a function in a fork of this process, which takes milliseconds: what is imported here is imported there.

This process must therefore never initialise an accelerator: a fork cannot use one that its parent has initialised.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from tests.support.process.finished import TIMEOUT_S, Changes, Finished, change


def call(function: Callable[..., Any], *arguments: object, env: Changes | None = None) -> Any:
    """The result of `function(*arguments)`, through JSON."""

    def work() -> str:
        warnings.simplefilter("ignore")  # those of other packages; the marker keeps the session's own filters
        return json.dumps(function(*arguments))

    return run(work, env).value


def run(work: Callable[[], str], env: Changes | None = None, fork: Callable[[], int] | None = None) -> Finished:
    """Calls `work`, whose result becomes the answer; if it raises, the traceback becomes stderr.

    `fork` is another way to fork than os.fork.

    The fork ends without finalising Python: a test may leave a device in a state that finalising would wait for.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as answer:
        with warnings.catch_warnings():
            # CPython 3.12 and newer warns if there are threads, and OpenBLAS starts some. They hold no lock now.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = (fork or os.fork)()
        if child == 0:
            _work_and_exit(work, env, answer.fileno())
        _, wait_status = os.waitpid(child, 0)
        answer.seek(0)
        text = answer.read().decode()
    status = os.waitstatus_to_exitcode(wait_status)
    return Finished(status, answer=text) if status == 0 else Finished(status, stderr=text)


def _work_and_exit(work: Callable[[], str], env: Changes | None, answer: int) -> NoReturn:
    status, text = 1, ""
    try:
        signal.alarm(TIMEOUT_S)
        change(os.environ, env)
        text = work()
        status = 0
    except BaseException:
        text = traceback.format_exc()
    finally:
        with os.fdopen(answer, "wb", closefd=False) as file:
            file.write(text.encode())
        os._exit(status)
