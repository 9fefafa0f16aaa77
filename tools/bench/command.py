"""./dev bench: starts a process for each provider and asks them in turn."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from tools import matrix
from tools.bench.providers import PROVIDERS, Provider
from tools.bench.report import print_tables, summary
from tools.build import wheel
from tools.settings import ROOT, ToolError, dev_dir
from tools.testing import environments
from tools.testing.run import THIS_PYTHON


def main(options: argparse.Namespace) -> int:
    wanted = [one for one in PROVIDERS if not options.torch or one.torch in options.torch]
    if not wanted:
        known = ", ".join(dict.fromkeys(one.torch for one in PROVIDERS))
        raise ToolError(f"no provider is listed for torch {', '.join(options.torch)}: choose of {known}")
    console = Console(highlight=False, soft_wrap=True)
    workers = [Worker(one, path) for one, path in _with_wheel(wanted, options.wheel)]
    for worker in [one for one in workers if not one.is_right]:
        console.print(f"left out: {worker.provider.label} gives torch.Tensor no table here", markup=False)
        worker.close()
        workers.remove(worker)
        wanted.remove(worker.provider)
    turns = [
        {worker.provider.label: worker.measure() for worker in workers}
        for _ in track(range(options.rounds), "Measuring", console=Console(stderr=True))
    ]
    for worker in workers:
        worker.close()
    results = summary(wanted, turns)
    print_tables(console, wanted, results)
    if options.json:
        about = {"machine": _machine(), "rounds": options.rounds}
        options.json.write_text(json.dumps({**about, "results": results}, indent=1) + "\n", encoding="utf-8")
    return 0


def _with_wheel(wanted: list[Provider], given: Path | None) -> list[tuple[Provider, Path]]:
    """Each provider with our wheel, which is built with the rows that are needed unless it is given."""
    lines = {".".join(one.torch.split(".")[:2]) for one in wanted if one.ours}
    rows = [name for name, row in matrix.read().rows.items() if row.torch in lines]
    built = given or wheel.build(rows, dev_dir() / "wheels" / "bench")
    return [(one, built) for one in wanted]


class Worker:
    """The process of a provider."""

    def __init__(self, provider: Provider, wheel: Path) -> None:
        self.provider = provider
        python = environments.python_for(provider.torch, THIS_PYTHON)
        purpose = f"bench-{'ours' if provider.ours else 'theirs'}"
        environment = environments.get_or_create(python, provider.torch, *provider.requirements, purpose=purpose)
        if provider.ours:
            environment.install_wheel(wheel)
        variables = environment.variables(PYTHONPATH=str(ROOT), **provider.variables)
        self._process = subprocess.Popen(
            [environment.python, "-m", "tools.bench.worker"],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.is_right = self._read()["table"] == (provider.name != "no table")

    def measure(self) -> dict[str, float]:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        times: dict[str, float] = self._read()
        return times

    def close(self) -> None:
        self._process.communicate()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ToolError(f"the process that measures {self.provider.label} has ended; its own error is above")
        return json.loads(line)


def _machine() -> dict[str, object]:
    names = [line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cpus": os.cpu_count(),
        "system": platform.platform(),
    }


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
