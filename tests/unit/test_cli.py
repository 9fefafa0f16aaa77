"""The command as a process whose stdout is closed, at once or from the start."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

COMMANDS = [["list"], ["doctor"], ["doctor", "--json"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reader_of_its_output_may_stop_reading(command: list[str]) -> None:
    module = [sys.executable, "-m", "dlx_torch_ext", *command]
    with subprocess.Popen(module, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before it has written anything
        errors = process.stderr.read()
    assert "BrokenPipeError" not in errors
    assert "Traceback" not in errors
    assert process.returncode in (0, 1)


if sys.platform != "win32":

    @pytest.mark.parametrize("command", COMMANDS)
    def test_it_works_without_a_stdout(command: list[str]) -> None:
        module = f"{shlex.quote(sys.executable)} -m dlx_torch_ext {' '.join(command)} >&-"
        done = subprocess.run(["sh", "-c", module], stderr=subprocess.PIPE, text=True, check=False)
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1)
