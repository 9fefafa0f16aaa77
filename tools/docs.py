"""Make the tables of the docs again, from what runs here: ./dev docs.

docs/ascend.md: what a consumer is told the current stream is, by torch's own table and by ours, for torch releases with
their torch_npu on a simulated CANN with two devices.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools import environments, sessions, wheel
from tools.environments import Environment
from tools.screen import busy
from tools.settings import ROOT, ToolError, dev_dir

PAGE = ROOT / "docs" / "ascend.md"
BEGIN, END = "<!-- made by ./dev docs -->", "<!-- end -->"
COLUMNS = ("torch", "torch_npu", "torch's own stream", "ours", "torch's own import", "ours")
_WORKER = Path(__file__).with_name("docs_worker.py")


def main(options: argparse.Namespace) -> int:
    pairs = [*sessions.NPU, *sessions.MORE_NPU]
    lines = {session.torch.rpartition(".")[0] for session in pairs if session.torch}
    built = wheel.build(
        [row for row in wheel.rows() if wheel.torch_line(row) in lines], dev_dir() / "wheels" / "release"
    )
    rows = []
    for session in sorted(pairs, key=lambda s: [int(part) for part in (s.torch or "0").split(".")]):
        rows.append(_row(session, built))
    table = Table(title="The current stream on Ascend, as a consumer is told (simulated CANN)")
    for column in COLUMNS:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    return 0 if _write(rows, check=options.check) else 1


def _row(session: sessions.Session, built: Path) -> list[str]:
    assert session.torch
    npu = next(extra for extra in session.extras if extra.startswith("torch_npu==")).partition("==")[2]
    python = environments.python_for(session.torch, sessions.HERE)
    environment = environments.make(python, session.torch, *session.extras)
    with environment.used_alone(), busy(f"torch {session.torch}, torch_npu {npu}"):
        environment.install(str(built))
        answers = [
            _ask(environment, question, **settings)
            for question in ("stream", "import")
            for settings in ({"DLX_TORCH_DISABLE": "1"}, {})
        ]
    return [session.torch, npu, *answers]


def _ask(environment: Environment, question: str, **settings: str) -> str:
    command = [str(environment.python), str(_WORKER), question]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment.variables(**settings), cwd=ROOT
    )
    if done.returncode < 0:
        return signal.Signals(-done.returncode).name
    if done.returncode > 0:
        raise ToolError(f"asking in {environment.folder.name} failed:\n{done.stdout}{done.stderr}".rstrip())
    answer: str = json.loads(done.stdout.splitlines()[-1])
    return answer


def _write(rows: list[list[str]], *, check: bool) -> bool:
    """Put the rows into the page; with `check`, only say whether they are there already."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [f"| {' | '.join(row)} |" for row in (list(COLUMNS), ["---"] * len(COLUMNS), *rows)]
    made = f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}"
    if check:
        return made == text
    PAGE.write_text(made, encoding="utf-8")
    return True
