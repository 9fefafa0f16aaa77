"""The doctor's verdict in a process without our wheel, and in one with it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from rich.console import Console

from tools.demo.result import Result
from tools.settings import ROOT, ToolError
from tools.testing.environments import Environment


def show(console: Console, bare: Environment, ours: Environment) -> Iterator[Result]:
    """Run `dlx-torch doctor` in both environments. Without the wheel, the doctor comes from the source tree."""
    console.print("[bold]The doctor's verdict[/]")
    for name, environment, source, wanted in (
        ("without", bare, {"PYTHONPATH": str(ROOT / "python")}, "none"),
        ("with", ours, {}, "dlx"),
    ):
        command = [str(environment.python), "-m", "dlx_torch_ext", "doctor", "--json"]
        variables = environment.variables(**source)
        where = environment.folder  # not the checkout, whose sources must not be found
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=where)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            raise ToolError(f"the doctor gave no report:\n{done.stdout}{done.stderr}") from None
        console.print(f"  {name:<8} {report['verdict']}", markup=False, soft_wrap=True)
        provider = report["status"]["provider"]
        yield Result(f"the doctor says {provider!r} {name} the wheel, not {wanted!r}", provider == wanted)
