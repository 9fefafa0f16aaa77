"""A second process that builds into a folder or holds a lock, and waits for a line on stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest import mock

from dlx_torch_ext import _cache
from dlx_torch_ext._cli import build as build_command
from dlx_torch_ext._cli.compile import Tools
from dlx_torch_ext._cli.lock import NotALock, locked
from dlx_torch_ext._cli.target import plan

from tests.support.installation import facts


def build(folder: str) -> None:
    """Builds a library. It prints "compiling" and the working folder, waits for a line, and prints "done"."""

    def compile_library(tools: Tools, here: Any, backend: str, work: str) -> str:
        print("compiling", work, flush=True)
        sys.stdin.readline()
        path = Path(work) / "built.so"
        path.write_bytes(b"a library")
        return str(path)

    replaced: dict[str, Any] = {
        "find_tools": lambda _: Tools("", "", "", "", ""),
        "compile_library": compile_library,
        "_problem_in_a_child": lambda path, backend: "",
    }
    revision = mock.patch.object(_cache, "revision", return_value="0123456789ab")
    with revision, mock.patch.multiple(build_command, **replaced):
        build_command._build_target(plan(facts(), None, folder, None), "/torch")
    print("done", flush=True)


def hold_lock(path: str) -> None:
    """Prints "held" and holds the lock until a line comes."""
    with locked(path, 0, print):
        print("held", flush=True)
        sys.stdin.readline()


def refusal_of_the_lock(path: str) -> str:
    """Why there is no lock at `path`; "" if there is one."""
    try:
        with locked(path, 0, print):
            return ""
    except NotALock as error:
        return str(error)
