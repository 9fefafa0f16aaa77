"""Runs a snippet in a fork of this process: what has been imported here is there at once, and a crash stays there."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import traceback
import warnings
from collections.abc import Mapping
from typing import Any

SECONDS = 60


def run(code: str, env: Mapping[str, str | None]) -> Any:
    """The value of `answer`, which the snippet sets, through JSON. A value of None in `env` removes a variable.

    The child ends without finalisation, so a device that was broken on purpose is not waited for.
    """
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of threads that hold no lock while tests are being started
        child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        _answer(code, env, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else told.decode()
    return json.loads(told)


def _answer(code: str, env: Mapping[str, str | None], writer: int) -> None:
    """In the child; never returns."""
    failed, told = 1, ""
    try:
        for name, value in env.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        warnings.simplefilter("ignore")  # other packages' warnings are not what is asked for
        scope: dict[str, Any] = {}
        exec(compile(textwrap.dedent(code), "<snippet>", "exec"), scope)
        failed, told = 0, json.dumps(scope["answer"])
    except BaseException:
        told = traceback.format_exc()
    finally:
        with os.fdopen(writer, "wb") as stream:
            stream.write(told.encode())
        os._exit(failed)
