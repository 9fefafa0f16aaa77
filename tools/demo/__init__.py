"""Show what the package changes on torch 2.9.1: the doctor's verdict, the speed and the streams: ./dev demo."""

from __future__ import annotations

import argparse
import shutil

from rich.console import Console

from tools.build import wheel
from tools.demo import cost, streams, verdict
from tools.settings import dev_dir, locked
from tools.testing import environments, plan
from tools.testing.environments import Environment
from tools.testing.run import THIS_PYTHON

TORCH, ROW = "2.9.1", "torch2_9_cxx11"


def main(options: argparse.Namespace) -> int:
    with locked(dev_dir() / "demo.lock"):  # a second demo would delete the environments of this one
        return _demo(Console(highlight=False))


def _demo(console: Console) -> int:
    built = wheel.build([ROW], dev_dir() / "wheels" / "demo")
    size = f"{built.stat().st_size / 1024:.0f} KiB"
    console.print(f"[bold]The wheel[/]  {built.name}, {size}, one row: {ROW}", soft_wrap=True)
    bare, peer, ours = (_environment(name) for name in ("bare", "peer", "ours"))
    peer.install(plan.PEER)
    ours.install_wheel(built)
    console.print(f"[bold]Installed[/]  with torch {TORCH} and apache-tvm-ffi in {ours.folder}\n", soft_wrap=True)
    results = [
        *verdict.show(console, bare, ours),
        *cost.show(console, {cost.NONE: bare, cost.PEER: peer, cost.OURS: ours}),
        *streams.show(console, ours),
    ]
    problems = [result.problem for result in results if not result.passed]
    console.print()
    print("Everything is as expected." if not problems else f"Not as expected: {'; '.join(problems)}.")
    return 1 if problems else 0


def _environment(name: str) -> Environment:
    """A new environment for one part of the demo; one that an earlier demo has left is deleted."""
    python = environments.python_for(TORCH, THIS_PYTHON)
    for old in (dev_dir() / "envs").glob(f"demo-{name}-*"):
        if old.is_dir():
            shutil.rmtree(old)
    return environments.get_or_create(python, TORCH, plan.TVM_FFI, purpose=f"demo-{name}")
