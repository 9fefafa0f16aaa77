"""Runs the tests of one mutant after the other, each in a fork of a process that has done what they have in common.

python -m tools.mutate.worker PLAN: the plan is JSON, with `imports`, the `arguments` for pytest, and `collect`, whether
the tests are collected before the forks, which must not import what is mutated. Then it reads jobs from stdin, a line
of JSON each, and writes an answer to stdout for each. A job has the `tests` in their order (null: all), `inline` and
`stop` (at the first failure), `bytecode` (whether to write it), and the limits `seconds` and `cpu_seconds`. Its answer
has the tests that `failed`, the `durations`, the `ending` of a process that did not end by itself, the `cpu_seconds`
that it took, and the last `output`.

This runs in the tests' environment, so it uses the standard library and pytest only.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

_MEMORY = 12 << 30  # of addresses, more than this process has: a mutant may ask for any amount
_jobs = os.fdopen(os.dup(0))
_answers = os.fdopen(os.dup(1), "w")


def main(plan: dict[str, Any]) -> None:
    os.nice(5)
    os.dup2(2, 1)
    # torch is imported without our package; the child attaches it.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    for name in plan["imports"]:
        importlib.import_module(name)
    del os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"]
    options = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-q", "-s"]  # many mutants crash
    if plan["collect"]:
        pytest.main([*plan["arguments"], *options], plugins=[Collected()])
    else:
        serve(lambda watcher: int(pytest.main([*(watcher.files or plan["arguments"]), *options], plugins=[watcher])))


class Collected:
    """A pytest plugin that, instead of running the collected tests, serves jobs with them."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        assert "libdlx_torch" not in Path("/proc/self/maps").read_text(), "collecting has loaded the library"

        def run_items(watcher: Watcher) -> int:
            session.config.pluginmanager.register(watcher)
            session.config.option.inline = watcher.inline
            items = list(session.items)
            watcher.pytest_collection_modifyitems(items)
            for item in items:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if watcher.stop and watcher.failed:
                    break
            return 0

        serve(run_items)
        return True


def serve(run: Callable[[Watcher], int]) -> None:
    for line in _jobs:
        _answers.write(json.dumps(answer(json.loads(line), run)) + "\n")
        _answers.flush()


def answer(job: dict[str, Any], run: Callable[[Watcher], int]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result, output = Path(folder, "result.json"), Path(folder, "output.txt")
        child = os.fork()
        if child == 0:
            _work(job, run, result, output)
        ending, cpu_seconds = _wait(child, job["seconds"])
        found: dict[str, Any] = {"failed": [], "durations": {}}
        if result.exists():
            found = json.loads(result.read_text(encoding="utf-8"))
        text = output.read_text(encoding="utf-8", errors="replace")[-4000:]
        return {**found, "ending": ending, "cpu_seconds": cpu_seconds, "output": text}


def _wait(child: int, seconds: float) -> tuple[str, float]:
    """Waits for the end of the child, and ends what it has started. How it ended, "" if by itself, and the time that it
    took on a processor."""
    descriptor = os.pidfd_open(child)
    in_time = select.select([descriptor], [], [], seconds)[0]
    os.close(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, wait_status, usage = os.wait4(child, 0)
    status = os.waitstatus_to_exitcode(wait_status)
    ending = "" if status in (0, 1) else f"pytest ended with exit status {status}"
    if status < 0:
        ending = signal.Signals(-status).name
    if not in_time or status == -signal.SIGXCPU:
        ending = "timeout"
    return ending, usage.ru_utime + usage.ru_stime


def _work(job: dict[str, Any], run: Callable[[Watcher], int], result: Path, output: Path) -> NoReturn:
    status = 70
    try:
        os.setpgid(0, 0)
        file = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, 1)
        os.dup2(file, 2)
        if not job["bytecode"]:  # of a mutant, which the next one would be taken for
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (job["cpu_seconds"], job["cpu_seconds"] + 5))
        if "torch" in sys.modules:
            sys.modules["torch"]._import_device_backends()  # as at the end of `import torch`
        watcher = Watcher(job)
        status = run(watcher)
        result.write_text(json.dumps({"failed": watcher.failed, "durations": watcher.durations}), encoding="utf-8")
    finally:
        os._exit(status)


class Watcher:
    """A pytest plugin: which tests run, in which order, and what became of them."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.inline, self.stop = bool(job["inline"]), bool(job["stop"])
        self.order = None if job["tests"] is None else {name: number for number, name in enumerate(job["tests"])}
        self.files = sorted({name.partition("::")[0] for name in self.order or ()})
        self.failed: list[str] = []
        self.durations: dict[str, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        order = self.order
        if order is not None:
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        session.config.option.maxfail = int(self.stop)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.durations[report.nodeid] = self.durations.get(report.nodeid, 0.0) + report.duration
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
