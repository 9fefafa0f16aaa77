"""Update the generated tables of the docs: ./dev docs.

tools/docs/generated.py makes its tables from variants.toml. The table of docs/ascend.md comes from programs that run
here: for several torch releases with their torch_npu, on a simulated CANN with two devices, it shows which current
stream a consumer gets from torch's own table and from ours, and whether an import through them is right.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools import matrix
from tools.build import wheel
from tools.docs import generated
from tools.screen import busy
from tools.settings import ROOT, ToolError, dev_dir
from tools.testing import environments, plan
from tools.testing.environments import Environment
from tools.testing.run import THIS_PYTHON, Session

PAGE = ROOT / "docs" / "ascend.md"
COLUMNS = ["torch", "torch_npu", "torch's own stream", "ours", "torch's own import", "ours"]
_WORKER = Path(__file__).with_name("worker.py")


def main(options: argparse.Namespace) -> int:
    if not options.check:
        generated.write()
    elif generated.main() != 0:
        return 1
    pairs = [*plan.NPU, *plan.MORE_NPU]
    lines = {session.torch.rpartition(".")[0] for session in pairs if session.torch}
    built = wheel.build(matrix.read().of_lines(lines), dev_dir() / "wheels" / "release")
    rows = []
    for session in sorted(pairs, key=lambda s: [int(part) for part in (s.torch or "0").split(".")]):
        rows.append(_row(session, built))
    table = Table(title="The current stream and imports on Ascend, as a consumer sees them (simulated CANN)")
    for column in COLUMNS:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return 0 if _write(rows, check=options.check) else 1


def _row(session: Session, built: Path) -> list[str]:
    assert session.torch
    npu = next(extra for extra in session.extras if extra.startswith("torch_npu==")).partition("==")[2]
    python = environments.python_for(session.torch, THIS_PYTHON)
    environment = environments.get_or_create(python, session.torch, *session.extras)
    with environment.locked_for_use(), busy(f"torch {session.torch}, torch_npu {npu}"):
        environment.install_wheel(built)
        answers = [
            _run_worker(environment, question, **settings)
            for question in ("stream", "import")
            for settings in ({"DLX_TORCH_DISABLE": "1"}, {})
        ]
    return [session.torch, npu, *answers]


def _run_worker(environment: Environment, question: str, **settings: str) -> str:
    command = [str(environment.python), str(_WORKER), question]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment.variables(**settings), cwd=ROOT
    )
    if done.returncode < 0:
        return signal.Signals(-done.returncode).name
    if done.returncode > 0:
        output = f"{done.stdout}{done.stderr}".rstrip()
        raise ToolError(f"{_WORKER.name} {question} failed in {environment.folder.name}; its output:\n{output}")
    answer: str = json.loads(done.stdout.splitlines()[-1])
    return answer


def _write(rows: list[list[str]], *, check: bool) -> bool:
    """Write the rows to the page. With `check`, only return whether the page has them already."""
    text = PAGE.read_text(encoding="utf-8")
    updated = generated.replace_table(text, "ascend", [COLUMNS, *rows])
    if check:
        return updated == text
    PAGE.write_text(updated, encoding="utf-8")
    return True
