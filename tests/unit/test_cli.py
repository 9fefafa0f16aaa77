"""The command as a process: usage, the version, and what its reader or its environment does to it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import COMMAND, dlx_torch, environment
from tests.support.installation import Site, entry, record
from tests.support.left_out import left_out_if
from tests.support.process.finished import ROOT

COMMANDS = [[], ["--version"], ["list"], ["doctor"], ["doctor", "--json"], ["doctor", "--all"]]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, [entry("2.9", True, "cpu")], "fake_torch.torch(whole=True)")


def test_without_a_command_it_prints_its_help(site: Site) -> None:
    finished = dlx_torch(site)
    assert (finished.status, finished.stderr) == (0, "")
    assert finished.stdout == dlx_torch(site, "--help").stdout
    assert all(command in finished.stdout for command in ("doctor", "list", "build", "--version"))


def test_every_command_is_in_the_help_and_on_its_page(site: Site) -> None:
    commands = re.findall(r"^    (\w+) ", dlx_torch(site, "--help").stdout, re.M)
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert {"doctor", "verify", "explain", "list", "build"} <= set(commands)
    assert [name for name in commands if f"\n## dlx-torch {name}\n" not in page] == []
    assert [name for name in re.findall(r"^## dlx-torch (\w+)$", page, re.M) if name not in commands] == []


def test_version(site: Site) -> None:
    record(site.folder, "dlx-torch-ext", "0.1.0")
    finished = dlx_torch(site, "--version")
    assert (finished.status, finished.stdout, finished.stderr) == (0, "dlx-torch-ext 0.1.0\n", "")


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["doctor", "--yaml"], ["list", "more"], ["verify", "--timeout", "soon"]]
)
def test_wrong_usage(arguments: list[str], site: Site) -> None:
    finished = dlx_torch(site, *arguments)
    assert finished.status == 2
    assert "usage: dlx-torch" in finished.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_may_stop_reading(command: list[str], site: Site) -> None:
    pipe, arguments = subprocess.PIPE, [*COMMAND, *command]
    with subprocess.Popen(arguments, env=environment(site), stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before it has written anything
        errors = process.stderr.read()
    assert errors == ""
    assert process.returncode == 0


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("locale", [{"LANG": "C", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_no_path_is_too_strange_to_print(command: list[str], locale: dict[str, str], tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/h\xc3\xb6me \xff \x1b[2J")
    site = Site(Path(folder), [entry("2.9", True, "cpu")], "fake_torch.torch(whole=True)")
    done = subprocess.run([*COMMAND, *command], env=environment(site, **locale), capture_output=True, check=False)
    assert done.returncode in (0, 1)  # ctypes loads no library from a folder whose name is no UTF-8
    assert done.stderr == b""
    assert done.stdout
    assert b"\x1b" not in done.stdout


def shell(site: Site, command: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    words = " ".join(map(shlex.quote, [*COMMAND, *command]))
    arguments = ["sh", "-c", f"{words} {redirection}"]
    return subprocess.run(arguments, env=environment(site), stderr=subprocess.PIPE, text=True, check=False)


@left_out_if(sys.platform == "win32", "Windows has no sh")
@pytest.mark.parametrize("command", COMMANDS)
def test_there_need_be_no_stdout(command: list[str], site: Site) -> None:
    done = shell(site, command, ">&-")
    assert (done.returncode, done.stderr) == (0, "")


@left_out_if(sys.platform != "linux", "only Linux has /dev/full")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_an_error_of_one_line(command: list[str], site: Site) -> None:
    done = shell(site, command, ">/dev/full")
    assert done.returncode == 1
    assert done.stderr == "dlx-torch: stdout cannot be written: No space left on device\n"


def test_python_m(site: Site) -> None:
    finished = site.cli("list")
    assert (finished.status, finished.stdout.splitlines()[0]) == (0, "* torch2.9-cxx11-cpu")
