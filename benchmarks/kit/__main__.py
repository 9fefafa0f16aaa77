"""python -m benchmarks.kit [--rounds N]: with the torch and the dlx_torch_ext of this interpreter.

Each way to call has a process of its own, which is asked in turn, so that whatever else the machine does meets all of
them. A number is the least of a few repetitions in one turn; the table has the median of the turns and their spread.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

from benchmarks.kit.worker import CALLS, build_all
from tests.support.process.finished import ROOT

GOALS = {"kit": "45 ns", "kit, stream on CUDA": "80 ns", "kit, output": "half of torch.empty"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    build_all()
    workers = {name: start(name) for name in CALLS}
    times: dict[str, list[float]] = {name: [] for name in CALLS}
    for _ in range(options.rounds):
        for name, worker in workers.items():
            if answer := ask(worker):
                times[name].append(float(answer))
    for worker in workers.values():
        worker.communicate()
    print("| a call of three tensors | median ns | least | most | of the empty function | goal |")
    print("|---|---|---|---|---|---|")
    empty = statistics.median(times["empty function of Python"])
    for name, measured in times.items():
        if measured:
            median = statistics.median(measured)
            numbers = f"{median:.1f} | {min(measured):.1f} | {max(measured):.1f} | {median / empty:.2f}"
            print(f"| {name} | {numbers} | {GOALS.get(name, '')} |")
    return 0


def start(name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.kit.worker", name]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(worker: subprocess.Popen[str]) -> str:
    """The time of one turn; "" where this torch cannot make this call."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write("\n")
        worker.stdin.flush()
    except BrokenPipeError:
        return ""
    return worker.stdout.readline().strip()


if __name__ == "__main__":
    sys.exit(main())
