"""Show the doctor's verdict without our wheel and with it."""

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
    for name, environment, source, expected in (
        ("without", bare, {"PYTHONPATH": str(ROOT / "python")}, "none"),
        ("with", ours, {}, "dlx"),
    ):
        command = [str(environment.python), "-m", "dlx_torch_ext", "doctor", "--json"]
        variables = environment.variables(**source)
        where = environment.folder  # not the checkout: Python would import its sources
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, cwd=where)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            output = f"{done.stdout}{done.stderr}".rstrip()
            raise ToolError(
                f"`dlx-torch doctor --json` {name} the wheel printed no JSON; its output:\n{output}"
            ) from None
        console.print(f"  {name:<8} {report['verdict']}", markup=False, soft_wrap=True)
        provider = report["status"]["provider"]
        problem = f"{name} the wheel, the doctor says that the provider is {provider!r}; expected is {expected!r}"
        yield Result(problem, provider == expected)
