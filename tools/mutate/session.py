"""Test sessions for mutants: which tests, in which process, in which order, and what passes without a mutant."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from tools.mutate.workplace import Workplace
from tools.settings import ToolError
from tools.testing.environments import Environment

_SLOW_S = 1.5  # a test that takes longer runs among the last


@dataclass(frozen=True)
class Plan:
    """`imports`, `arguments` and `collect` are the worker's. `inline`: the tests run in one process, and those that
    cannot do that in forks of their own. `in_tools`: in the environment of the tools."""

    name: str
    imports: tuple[str, ...]
    arguments: tuple[str, ...]
    collect: bool = False
    inline: bool = False
    in_tools: bool = False


CONTRACT = Plan("contract", ("torch",), ("tests/integration/contract",), collect=True, inline=True)
# Files of cpp/src that tests compile by themselves: they give them what torch never does.
_BY_ITSELF = ("dtypes", "error_lines", "overflow", "switches")
BY_ITSELF = Plan("files by themselves", (), tuple(f"tests/tools/test_{it}.py" for it in _BY_ITSELF), in_tools=True)
UNIT = Plan("unit tests", (), ("tests/unit",))


@dataclass
class Run:
    """Tests that pass without a mutant, with the seconds that they take. `inline`: in one process."""

    inline: bool = False
    durations: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0  # of all of them
    kills: Counter[str] = field(default_factory=Counter)

    def order(self, tests: Iterable[str]) -> list[str]:
        """The tests that killed most come first. The slow ones come last, and those of CUDA: a process that has used it
        cannot fork children that use it."""

        def key(test: str) -> tuple[bool, bool, int, float]:
            seconds = self.durations[test]
            return "cuda" in test, seconds > _SLOW_S, -self._kills_of(test), seconds

        return sorted(tests, key=key)

    def _kills_of(self, test: str) -> int:
        """Those of CUDA keep the order in which they have passed without a mutant: one may see another's memory."""
        return 0 if "cuda" in test else self.kills[test]

    def rounds(self, near: str = "") -> list[list[str]]:
        """The tests in rounds, each for a process of its own. First those of the file `near`, which is quickly
        collected, then one case of each test, that which killed most, but no slow ones; then the rest."""
        own = [test for test in self.durations if near and test.startswith(f"{near}::")]
        cases: dict[str, str] = {}
        for test in self.order(self.durations):
            name = test.partition("[")[0]
            known = cases.get(name)
            if self.durations[test] <= _SLOW_S and (known is None or self._kills_of(test) > self._kills_of(known)):
                cases[name] = test
        first = set(cases.values()) - set(own)
        rounds = [self.order(own), self.order(first), self.order(self.durations.keys() - first - set(own))]
        return [tests for tests in rounds if tests]


class Session:
    """A plan in a process that is kept. `runs` are what a mutant has to survive."""

    def __init__(self, plan: Plan, workplace: Workplace, environment: Environment) -> None:
        self.plan, self.workplace = plan, workplace
        python = sys.executable if plan.in_tools else str(environment.python)
        # A test that compiles something for itself does so in the workplace.
        variables = environment.variables(
            PYTHONPATH=f"{workplace.package_path}:{workplace.checkout}", DLX_TEST_CACHE=str(workplace.folder / "tests")
        )
        self._process = subprocess.Popen(
            [python, "-m", "tools.mutate.worker", json.dumps(asdict(plan))],
            cwd=workplace.checkout,
            env=variables,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.runs: list[Run] = []
        self.broken: list[str] = []  # tests that fail without a mutant: they say nothing here

    def prepare(self) -> None:
        """Runs the tests without a mutant, twice, so that what fails by itself or in another order is left out."""
        run = Run(self.plan.inline)
        alone: set[str] = set()
        self._learn(run, alone, None)
        for tests in run.rounds():
            self._learn(run, alone, tests)
        self.runs = [run]
        self.broken = sorted(alone)
        if alone and self.plan.inline:
            isolated = Run()
            self._learn(isolated, broken := set[str](), sorted(alone))
            self.broken = sorted(broken)
            self.runs.append(isolated)
        self.workplace.forget_bytecode()

    def _learn(self, run: Run, failing: set[str], tests: list[str] | None) -> None:
        """Runs tests, all with None, without a mutant. Notes which fail, and how long the others take."""
        answer = self._ask(run, tests, bytecode=True)
        if answer["ending"] or not answer["durations"]:
            raise ToolError(f"{self.plan.name}: the tests do not run without a mutant:\n{answer['output']}")
        failing |= set(answer["failed"])
        run.cpu_seconds = max(run.cpu_seconds, answer["cpu_seconds"])
        # The first durations stay, since the order depends on them.
        run.durations.update({**answer["durations"], **run.durations})
        for test in failing:
            run.durations.pop(test, None)

    def killer(self, near: str = "") -> str:
        """The test that fails now, or how the process of the tests ended; "" where all of them pass. `near`: the file
        with the tests that are likely to fail."""
        for run, tests in [(it, tests) for it in self.runs for tests in it.rounds(near)]:
            answer = self._ask(run, tests, stop=True)
            if answer["failed"]:
                run.kills[answer["failed"][0]] += 1
                return str(answer["failed"][0])
            if answer["ending"]:
                return str(answer["ending"])
        return ""

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, run: Run, tests: list[str] | None, *, stop: bool = False, bytecode: bool = False) -> dict[str, Any]:
        seconds, cpu_seconds = _limits(run, tests)
        job = {
            "inline": run.inline,
            "tests": tests,
            "stop": stop,
            "bytecode": bytecode,
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise ToolError(f"{self.plan.name}: the process of the tests has ended; its output is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _limits(run: Run, tests: list[str] | None) -> tuple[float, int]:
    """How long tests may take, by the clock and on the processor, before they count as hanging. A busy machine slows
    the clock's time only, so that limit is a wide one."""
    everything = sum(run.durations.values())
    if tests is None or not everything:
        return 3600, 3600
    some = sum(run.durations.get(test, 0) for test in tests)
    return 30 + 4 * some, round(10 + 2 * run.cpu_seconds * some / everything)
