"""One run of pytest: in which environment, and what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools.settings import ROOT, ToolError, machine, run
from tools.testing import environments, interpreters
from tools.testing.environments import Environment

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass(frozen=True)
class Session:
    """One run of pytest."""

    name: str
    tests: tuple[str, ...]
    torch: str | None = None
    python: str | None = None  # None: the one that runs ./dev, or one near it that the torch release has a wheel for
    extras: tuple[str, ...] = ()
    sanitize: bool = False
    arguments: tuple[str, ...] = ()  # for pytest
    arch: str = machine()  # another processor's run under qemu


@dataclass(frozen=True)
class Outcome:
    """What came of a session. `problem` is set where pytest itself did not come to an end, or could not start."""

    session: Session
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    output: str = ""
    problem: str = ""
    loaded: tuple[dict[str, str], ...] = ()  # what tests/integration/test_loaded.py saw
    absent: bool = False  # there is no such CPython here, and none can be had

    @property
    def good(self) -> bool:
        return not self.failed and not self.problem and (self.passed > 0 or self.absent)


def execute(session: Session, wheel: Path, arguments: list[str], *, capture: bool) -> Outcome:
    """Run the session with that wheel, in its environment; what it prints goes on, or into the outcome."""
    python = session.python or (environments.python_for(session.torch, HERE) if session.torch else HERE)
    begun = time.monotonic()
    try:
        if not interpreters.find(python, session.arch):
            return Outcome(session, problem=f"CPython {python} is not available here", absent=True)
        environment = environments.make(python, session.torch, *session.extras, arch=session.arch)
        with environment.used_alone():
            environment.install_wheel(wheel)
            outcome = _pytest(session, environment, arguments, capture)
    except ToolError as error:
        outcome = Outcome(session, problem=str(error).splitlines()[0])
    return replace(outcome, seconds=time.monotonic() - begun)


def _pytest(session: Session, environment: Environment, arguments: list[str], capture: bool) -> Outcome:
    more = _sanitizer() if session.sanitize else {}
    # `dlx-torch build` is tested with our own cmake and ninja.
    more["DLX_TEST_BUILD_TOOLS"] = str(Path(sys.executable).parent)
    variables = environment.variables(PYTHONDONTWRITEBYTECODE="1", **more)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if capture else {}
    with tempfile.TemporaryDirectory() as own:
        report = Path(own, "report.xml")
        command = [str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
        command += ["-o", "junit_family=xunit1"]  # of the formats the one that has a test's own properties
        command += [*session.tests, *session.arguments, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False, **streams)
        outcome = _read(report, Outcome(session, output=done.stdout or ""))
    if done.returncode not in (0, 1, 5):  # passed, failed, nothing selected
        return replace(outcome, problem=f"pytest ended with exit status {done.returncode}")
    return outcome


def _read(report: Path, outcome: Outcome) -> Outcome:
    if not report.exists():
        return replace(outcome, problem="pytest left no report")
    suite = next(xml.parse(report).getroot().iter("testsuite"))
    count = {key: int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped")}
    failed = count["failures"] + count["errors"]
    loaded = tuple(json.loads(it.get("value", "")) for it in suite.iter("property") if it.get("name") == "loaded")
    passed = count["tests"] - failed - count["skipped"]
    return replace(outcome, passed=passed, failed=failed, skipped=count["skipped"], loaded=loaded)


def _sanitizer() -> dict[str, str]:
    """The sanitizers' runtime has to be in the process before anything else; CPython itself never frees everything."""
    compiler = os.environ.get("CXX", "c++").split()[0]
    runtimes = [run([compiler, f"-print-file-name={name}"], what="looking for ASan").strip() for name in _RUNTIMES]
    return {
        "LD_PRELOAD": " ".join(runtimes),
        "ASAN_OPTIONS": "detect_leaks=0:protect_shadow_gap=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "DLX_TORCH_TEST_SANITIZED": "1",
    }


_RUNTIMES = ("libasan.so", "libubsan.so", "libstdc++.so.6")
