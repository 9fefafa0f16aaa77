"""The command as a process: what its reader does to it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", [["list"], ["doctor"], ["doctor", "--json"]])
def test_a_reader_may_stop_reading(command: list[str]) -> None:
    module = [sys.executable, "-m", "dlx_torch_ext", *command]
    with subprocess.Popen(module, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before it has written anything
        errors = process.stderr.read()
    assert "BrokenPipeError" not in errors
    assert "Traceback" not in errors
    assert process.returncode in (0, 1)
