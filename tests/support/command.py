"""Runs `dlx-torch` on an installation of the tests' own, with its stdout in a pipe or in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.installation import Site
from tests.support.process.finished import ROOT, TIMEOUT_S, Finished

# Without -S, the packages of the tests' own environment would be there as well, and the doctor would name them.
COMMAND = (sys.executable, "-S", "-m", "dlx_torch_ext")
COLOURS = ("NO_COLOR", "FORCE_COLOR", "TERM")


def environment(site: Site, **more: str | None) -> dict[str, str]:
    """This process's environment without settings, 80 columns wide; None in `more` removes a variable."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DLX_TORCH_", "TORCH_")) or "TEST" in k}
    path = os.pathsep.join([str(site.folder), str(ROOT)])
    given = {
        **kept,
        **dict.fromkeys(COLOURS),
        "COLUMNS": "80",
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }
    return {name: value for name, value in given.items() if value is not None}


def dlx_torch(site: Site, *arguments: str, **env: str | None) -> Finished:
    """`dlx-torch` with its stdout in a pipe."""
    command = [*COMMAND, *arguments]
    variables = environment(site, **env)
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def report(site: Site, *arguments: str, **env: str | None) -> tuple[int, dict[str, Any]]:
    """The exit code of the doctor and its report."""
    finished = dlx_torch(site, "doctor", "--json", *arguments, **env)
    return finished.status, json.loads(finished.stdout)


def in_terminal(site: Site, command: str, columns: int, **env: str | None) -> str:
    """What `dlx-torch` writes to a terminal of that width."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = environment(site, COLUMNS=None, **{"TERM": "xterm", **env})
    with subprocess.Popen([*COMMAND, command], cwd=ROOT, env=variables, stdout=theirs) as process:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # Linux says EIO at the end, other systems nothing
            pass
    os.close(ours)
    assert process.returncode in (0, 1), written
    return written.decode().replace("\r\n", "\n")
