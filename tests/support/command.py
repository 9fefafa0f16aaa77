"""Runs `dlx-torch` on an installation of the tests' own, with its stdout in a pipe or in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.support.installation import Site
from tests.support.process import spawn
from tests.support.process.finished import ROOT, Changes, Finished, change

# Without -S, the packages of the tests' own environment would be there as well, and the doctor would name them.
WORDS = ("-S", "-m", "dlx_torch_ext")
COMMAND = (sys.executable, *WORDS)
COLOURS = ("NO_COLOR", "FORCE_COLOR", "TERM")


def changes(site: Site, more: Changes) -> Changes:
    """No settings, no colours, 80 columns, and `more`."""
    return site.environment({**dict.fromkeys(COLOURS), "COLUMNS": "80", **more})


def environment(site: Site, **more: str | None) -> dict[str, str]:
    """This process's environment with these changes."""
    variables = dict(os.environ)
    change(variables, changes(site, more))
    return variables


def dlx_torch(site: Site, *arguments: str, **env: str | None) -> Finished:
    """Runs `dlx-torch` with its stdout in a pipe."""
    return spawn.python(*WORDS, *arguments, env=changes(site, env))


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
