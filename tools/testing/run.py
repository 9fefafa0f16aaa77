"""Run pytest once in an environment, and read its results."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tools.settings import ROOT, ToolError, machine
from tools.testing import environments, interpreters, sanitizers
from tools.testing.environments import Environment

THIS_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass(frozen=True)
class Session:
    """One run of pytest."""

    name: str
    tests: tuple[str, ...]
    torch: str | None = None
    python: str | None = None  # None: the one that runs ./dev, or another that the torch release has a wheel for
    extras: tuple[str, ...] = ()
    sanitize: str = ""  # as -fsanitize names it
    arguments: tuple[str, ...] = ()  # for pytest
    arch: str = machine()  # for another processor than this machine's, under qemu
    folder: Path = ROOT  # where the tests are
    variables: Mapping[str, str] = field(default_factory=dict)  # environment variables of its own


@dataclass(frozen=True)
class Outcome:
    """The result of a session. `problem` is set where pytest could not start or ended with an error of its own."""

    session: Session
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    left_out: int = 0  # tests that make no sense here; the output of pytest has the reasons
    seconds: float = 0.0
    output: str = ""
    problem: str = ""
    loaded: tuple[dict[str, str], ...] = ()  # what tests/integration/test_loaded.py reports
    faults: tuple[dict[str, str], ...] = ()  # what tests/support/faults.py reports
    binaries: tuple[dict[str, str], ...] = ()  # what tests/integration/test_examples.py reports
    no_python: bool = False  # that CPython is not here and cannot be downloaded

    @property
    def good(self) -> bool:
        return not self.failed and not self.problem and (self.passed > 0 or self.no_python)


def execute(session: Session, wheel: Path, arguments: list[str], *, capture: bool) -> Outcome:
    """Run the session with that wheel, in its environment. With `capture`, its output goes into the outcome, else to
    the terminal."""
    python = session.python or (environments.python_for(session.torch, THIS_PYTHON) if session.torch else THIS_PYTHON)
    start = time.monotonic()
    try:
        if not interpreters.find(python, session.arch):
            return Outcome(session, problem=f"CPython {python} is not here and cannot be downloaded", no_python=True)
        environment = environments.get_or_create(python, session.torch, *session.extras, arch=session.arch)
        with environment.locked_for_use():
            environment.install_wheel(wheel)
            outcome = _pytest(session, environment, arguments, capture)
    except ToolError as error:
        outcome = Outcome(session, problem=str(error).splitlines()[0])
    return replace(outcome, seconds=time.monotonic() - start)


def _pytest(session: Session, environment: Environment, arguments: list[str], capture: bool) -> Outcome:
    extra = sanitizers.variables(session.sanitize) if session.sanitize else {}
    # The tests of `dlx-torch build` use the tool environment's cmake and ninja.
    extra["DLX_TEST_BUILD_TOOLS"] = str(Path(sys.executable).parent)
    variables = environment.variables(PYTHONDONTWRITEBYTECODE="1", **extra, **session.variables)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if capture else {}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            *sanitizers.prefix(session.sanitize),
            str(environment.python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report}",
        ]
        command += ["-o", "junit_family=xunit1"]  # the only format with the properties that tests record
        command += [*session.tests, *session.arguments, *arguments]
        done = subprocess.run(command, cwd=session.folder, env=variables, check=False, **streams)
        outcome = _read(report, Outcome(session, output=done.stdout or ""))
    if done.returncode not in (0, 1, 5):  # passed, failed, nothing selected
        return replace(outcome, problem=f"pytest ended with exit status {done.returncode}; its output says why")
    return outcome


def _read(report: Path, outcome: Outcome) -> Outcome:
    if not report.exists():
        return replace(outcome, problem="pytest wrote no report; its output says why")
    suite = next(xml.parse(report).getroot().iter("testsuite"))
    count = {key: int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    properties = [(entry.get("name"), entry.get("value", "")) for entry in suite.iter("property")]
    return replace(
        outcome,
        passed=count["tests"] - failed - count["skipped"],
        failed=failed,
        skipped=count["skipped"],
        left_out=sum(int(value) for name, value in properties if name == "left out"),
        loaded=tuple(json.loads(value) for name, value in properties if name == "loaded"),
        faults=tuple(json.loads(value) for name, value in properties if name == "fault"),
        binaries=tuple(json.loads(value) for name, value in properties if name == "one binary"),
    )
