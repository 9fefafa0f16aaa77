"""The test sessions: which tests run on which CPython, torch and neighbours; and how one session runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tools import environments, interpreters
from tools.environments import Environment
from tools.settings import ROOT, ToolError, dev_dir, run

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
TVM_FFI = "apache-tvm-ffi>=0.1.15"
OLDEST_TVM_FFI = "apache-tvm-ffi==0.1.4"  # the last that looks for the legacy integer; the next looks for the capsule
FIRST_WITH_CAPSULE = "apache-tvm-ffi==0.1.5"
PEER = "torch-c-dlpack-ext==0.1.5"
INTEGRATION = ("tests/integration",)
WITH_TVM_FFI = ("tests/integration/test_tvm_ffi.py",)
BESIDE_PEER = ("tests/integration/test_beside_the_peer.py", *WITH_TVM_FFI)
CORE = ("tests/integration/contract", *WITH_TVM_FFI)


@dataclass(frozen=True)
class Session:
    """One run of pytest."""

    name: str
    tests: tuple[str, ...]
    torch: str | None = None
    python: str | None = None  # None: the one that runs ./dev, or one near it that the torch release has a wheel for
    extras: tuple[str, ...] = (TVM_FFI,)
    sanitize: bool = False


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
    absent: bool = False  # there is no such CPython here, and none can be had

    @property
    def good(self) -> bool:
        return not self.failed and not self.problem and (self.passed > 0 or self.absent)


# No torch; the oldest CPython too.
UNIT = [Session(f"unit tests, CPython {v}", ("tests/unit",), python=v, extras=()) for v in (HERE, "3.9")]
# What ./dev is made of, in a Python that ./dev runs on; the last two are what rich requires.
AUDIT_NEEDS = ("abi3info", "packaging", "rich", "markdown-it-py", "mdurl")
TOOLS = [Session("tests of the tools", ("tests/tools",), python=HERE, extras=AUDIT_NEEDS)]
STANDARD = [Session(f"torch {torch}", INTEGRATION, torch) for torch in ("2.5.1", "2.9.1", "2.13.0")]
MORE = [Session(f"torch {torch}", INTEGRATION, torch) for torch in ("2.4.1", "2.6.0", "2.7.1", "2.8.0")]
NEIGHBOURS = [
    Session("torch 2.9.1, tvm-ffi of the integer", WITH_TVM_FFI, "2.9.1", extras=(OLDEST_TVM_FFI,)),
    Session("torch 2.9.1, first tvm-ffi of the capsule", WITH_TVM_FFI, "2.9.1", extras=(FIRST_WITH_CAPSULE,)),
    # There `import tvm_ffi` dies without ours: the peer has no library for this C++ ABI.
    Session("torch 2.6.0 and torch-c-dlpack-ext", BESIDE_PEER, "2.6.0", extras=(TVM_FFI, PEER)),
]
ASCEND = ("tests/integration/test_torch_npu.py", "tests/integration/test_simulated_ascend.py")
NPU_NEEDS = (TVM_FFI, "pyyaml")
# torch_npu on a simulated CANN: our variant below torch 2.10, our overlay from there on.
NPU = [
    Session(f"torch {release}, torch_npu {release}", ASCEND, release, extras=(*NPU_NEEDS, f"torch_npu=={release}"))
    for release in ("2.9.1", "2.13.0")
]
MORE_NPU = [
    Session(f"torch {torch}, torch_npu {npu}", ASCEND, torch, extras=(*NPU_NEEDS, f"torch_npu=={npu}"))
    for torch, npu in (("2.7.1", "2.7.1"), ("2.10.0", "2.10.0"), ("2.11.0", "2.11.0"), ("2.12.0", "2.12.0"))
]
# The wheel that passed above, unchanged, on other CPythons: with the torch they share, and 3.14 with its first.
PYTHONS = [Session(f"same wheel, CPython {v}", CORE, "2.5.1", v) for v in ("3.9", "3.11", "3.12", "3.13")]
PYTHONS += [Session("same wheel, CPython 3.14", CORE, "2.9.1", "3.14")]
SANITIZED = Session("torch 2.9.1, ASan and UBSan", CORE[:1], "2.9.1", sanitize=True)


def integration(torch: str, python: str | None) -> Session:
    """The session of one torch release, on a chosen CPython if need be."""
    return Session(f"torch {torch}" + (f", CPython {python}" if python else ""), INTEGRATION, torch, python)


def execute(session: Session, wheel: Path, arguments: list[str], *, capture: bool) -> Outcome:
    """Run the session with that wheel, in its environment; what it prints goes on, or into the outcome."""
    python = session.python or (environments.python_for(session.torch, HERE) if session.torch else HERE)
    if not interpreters.find(python):
        return Outcome(session, problem=f"CPython {python} is not available here", absent=True)
    begun = time.monotonic()
    try:
        environment = environments.make(python, session.torch, *session.extras)
        with environment.used_alone():
            environment.install(str(wheel))
            outcome = _pytest(session, environment, arguments, capture)
    except ToolError as error:
        outcome = Outcome(session, problem=str(error).splitlines()[0])
    return replace(outcome, seconds=time.monotonic() - begun)


def _pytest(session: Session, environment: Environment, arguments: list[str], capture: bool) -> Outcome:
    report = dev_dir() / "reports" / f"{environment.folder.name}{'-sanitize' if session.sanitize else ''}.xml"
    report.unlink(missing_ok=True)
    command = [str(environment.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
    more = _sanitizer() if session.sanitize else {}
    # `dlx-torch build` is tested with our own cmake and ninja.
    more["DLX_TEST_BUILD_TOOLS"] = str(Path(sys.executable).parent)
    variables = environment.variables(PYTHONDONTWRITEBYTECODE="1", **more)
    command += [*session.tests, *arguments]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if capture else {}
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
    return replace(outcome, passed=count["tests"] - failed - count["skipped"], failed=failed, skipped=count["skipped"])


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
