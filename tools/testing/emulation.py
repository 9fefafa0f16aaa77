"""A CPython for another processor, run by qemu's user emulation: to everybody else an interpreter like any other.

A script stands for the program. It tells Python its own path as the program's name, so that sys.executable, virtual
environments and child processes lead back to the script; and qemu, where that processor's shared libraries are.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tools.settings import ToolError
from tools.testing import debian


def python(version: str, arch: str) -> Path | None:
    """The script, or None where Debian's packages cannot be had. ToolError where qemu is missing."""
    qemu = shutil.which(f"qemu-{arch}") or shutil.which(f"qemu-{arch}-static")
    if qemu is None:
        raise ToolError(
            f"nothing here runs programs for {arch}: qemu-{arch} is not on PATH. Install it "
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
