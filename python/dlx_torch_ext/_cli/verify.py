"""`dlx-torch verify`: proves on the devices here that the table on torch.Tensor names the right streams."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from .. import __version__

PASSED, FAILED, NO_DEVICE = 0, 1, 2
SCHEMA = 1
_START_S = 300  # for torch's import and the first use of the devices


def run(file: str | None, timeout: float) -> int:
    """Prints a line for each check to stderr while it runs, then the table to stdout, and writes all of it as JSON to
    `file`. Returns 0 if every check passed, 1 if one failed, 2 if there is no device."""
    if sys.platform != "linux":
        print("dlx-torch: nothing to verify: streams are verified on Linux", file=sys.stderr)
        return NO_DEVICE
    began = time.monotonic()
    result: dict[str, Any] = {"schema": SCHEMA, "dlx-torch-ext": __version__, "checks": []}
    for message in _messages(timeout):
        result.update(message.get("facts", {}))
        if "check" in message:
            result["checks"].append(message["check"])
            _progress(message["check"])
        if "end" in message:
            result["end"], result["detail"] = message["end"], message["detail"]
    if result["end"] == "no device":
        print(f"dlx-torch: nothing to verify: {result['detail']}", file=sys.stderr)
        return NO_DEVICE
    failed = any(check["verdict"] == "failed" for check in result["checks"])
    result["passed"] = result["end"] == "done" and not failed
    result["seconds"] = round(time.monotonic() - began, 1)
    from .verified import show

    show(result)
    if file:
        with open(file, "w", encoding="utf-8") as out:
            out.write(json.dumps(result, indent=2) + "\n")
    return PASSED if result["passed"] else FAILED


def _progress(check: dict[str, str]) -> None:
    words = f"{check['device']}, {check['check']}, table {check['table']}: {check['verdict']}"
    print(f"dlx-torch: {words}", file=sys.stderr, flush=True)


def _messages(timeout: float) -> Iterator[dict[str, Any]]:
    """What the worker tells. The last one has the key `end`, also if the worker hangs or crashes."""
    theirs = "from dlx_torch_ext._verify import worker; worker.main"
    reader, writer = os.pipe()
    program = f"import sys; sys.path[:] = {sys.path!r}; {theirs}({writer})"
    # A session of its own, so that a forked child which hangs ends with it. What torch prints goes to stderr.
    worker = subprocess.Popen(
        [sys.executable, "-c", program], pass_fds=(writer,), stdout=2, stdin=subprocess.DEVNULL, start_new_session=True
    )
    os.close(writer)
    rest, doing, ended = b"", "start", False
    try:
        while True:
            limit = timeout if " table " in doing else max(timeout, _START_S)
            if not select.select([reader], [], [], limit)[0]:
                yield {"end": "failed", "detail": f"{doing}: it did not end within {limit:g} seconds"}
                return
            part = os.read(reader, 1 << 16)
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n")
            for message in map(json.loads, lines):
                doing, ended = message.get("doing", doing), "end" in message
                yield message
        code = worker.wait()
        if not ended:
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            yield {"end": "failed", "detail": f"{doing}: the process {how}"}
    finally:
        os.close(reader)
        if worker.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
