"""Where a mutant is tried: made in the workplace, compiled where that is needed, and run against the tests."""

from __future__ import annotations

import time
from pathlib import Path

from tools.mutate import cpp_mutants, known, python_mutants
from tools.mutate.compiler import RELEASE, Compiler
from tools.mutate.mutant import IDENTICAL, KILLED, LISTED, SURVIVED, Mutant, Result
from tools.mutate.session import BY_ITSELF, CONTRACT, UNIT, Plan, Session
from tools.mutate.workplace import Workplace
from tools.testing import environments
from tools.testing.environments import Environment
from tools.testing.plan import TVM_FFI
from tools.testing.run import THIS_PYTHON


class Bench:
    """The workplace and the test sessions of a language. `broken`: tests that fail without a mutant."""

    files: tuple[str, ...] = ()
    plans: tuple[Plan, ...] = ()
    control_every = 25  # mutants

    def __init__(self, folder: Path) -> None:
        self.workplace = Workplace(folder)
        self.workplace.keep_originals(self.files)
        self.known = known.read()
        environment = self._prepare()
        self.sessions = [Session(plan, self.workplace, environment) for plan in self.plans]
        for session in reversed(self.sessions):  # the quick ones first, for whoever waits for an error
            session.prepare()
        self.broken = [test for session in self.sessions for test in session.broken]

    def test(self, mutant: Mutant) -> Result:
        """What becomes of a mutant. Afterwards everything is as it was."""
        start = time.monotonic()
        if reason := self.known.reason(mutant):
            return Result(mutant, LISTED, reason)
        verdict, by = self._try(mutant)
        return Result(mutant, verdict, by, round(time.monotonic() - start, 1))

    def control(self) -> str:
        """What fails without a mutant now, although it did not at the beginning; "" if nothing does."""
        return self._killer()

    def close(self) -> None:
        for session in self.sessions:
            session.close()

    def _prepare(self) -> Environment:
        """Makes what the tests need. Returns the environment that they run in."""
        raise NotImplementedError

    def _try(self, mutant: Mutant) -> tuple[str, str]:
        raise NotImplementedError

    def _killer(self, near: str = "") -> str:
        return next((by for session in self.sessions if (by := session.killer(near))), "")


class PythonBench(Bench):
    files = python_mutants.FILES
    plans = (UNIT,)
    control_every = 100  # the unit tests take longer

    def _prepare(self) -> Environment:
        return environments.get_or_create(THIS_PYTHON, None)

    def _try(self, mutant: Mutant) -> tuple[str, str]:
        near = f"tests/unit/test_{Path(mutant.file).stem.lstrip('_')}.py"
        self.workplace.apply(mutant)
        try:
            by = self._killer(near)
        finally:
            self.workplace.restore(mutant)
        return (KILLED, by) if by else (SURVIVED, "")


class CppBench(Bench):
    files = cpp_mutants.FILES
    plans = (CONTRACT, BY_ITSELF)

    def _prepare(self) -> Environment:
        self.compiler = Compiler(self.workplace)
        self.workplace.register_entry_point()
        return environments.get_or_create(environments.python_for(RELEASE, THIS_PYTHON), RELEASE, TVM_FFI)

    def _try(self, mutant: Mutant) -> tuple[str, str]:
        self.workplace.apply(mutant)
        try:
            if problem := self.compiler.make(mutant.file):
                return problem, ""
            if by := self._killer():
                return KILLED, by
            optimized = self.compiler.optimized(mutant.file)
        finally:
            self.workplace.restore(mutant)
            self.compiler.restore(mutant.file)
        if optimized == self.compiler.optimized(mutant.file):
            return IDENTICAL, "at -O2"
        return SURVIVED, ""

    def control(self) -> str:
        self.compiler.link()
        return super().control()
