"""A CPython for another processor, run by qemu's user emulation. Callers use it like any other interpreter.

It is a script that starts qemu with the program. The script gives its own path to Python as the program's name, so that
sys.executable, virtual environments and child processes use the script again; and it tells qemu where the shared
libraries for that processor are.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tools.settings import ToolError
from tools.testing import debian


def python(version: str, arch: str) -> Path | None:
    """The path of the script; None where Debian's packages cannot be downloaded. ToolError where qemu is missing."""
    qemu = shutil.which(f"qemu-{arch}") or shutil.which(f"qemu-{arch}-static")
    if qemu is None:
        raise ToolError(
            f"programs for {arch} cannot run here: qemu-{arch} is not on PATH. Install it "
            f"(Debian: apt install qemu-user)"
        )
    program = debian.python(version, arch)
    if program is None:
        return None
    script = program.parent.with_name("emulated") / program.name  # Python finds its library from there
    root = program.parents[2]
    text = f'#!/bin/sh\nexec {shlex.quote(qemu)} -L {shlex.quote(str(root))} -0 "$0" {shlex.quote(str(program))} "$@"\n'
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        script.parent.mkdir(exist_ok=True)
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
    return script
