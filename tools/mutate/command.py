"""./dev mutate: a seeded sample of mutants, one after the other; the score, and the mutants that no test noticed."""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.mutate import cpp_mutants, known, mutant, python_mutants, requirements
from tools.mutate.bench import Bench, CppBench, PythonBench
from tools.mutate.mutant import COUNTED, SURVIVED, Mutant, Result
from tools.mutate.score import score
from tools.settings import ROOT, ToolError, dev_dir, machine

LANGUAGES = {"cpp": "C++", "python": "Python"}


def main(options: argparse.Namespace) -> int:
    if machine() != "x86_64":
        raise ToolError("./dev mutate needs x86_64: PyPI's torch for other processors has no CUDA to test with")
    requirements.install()
    console = Console(highlight=False, soft_wrap=True)
    deadline = time.monotonic() + 60 * options.minutes if options.minutes else None
    earlier = _earlier(options.again) if options.again else []
    results = {language: [one for one in earlier if _language(one.mutant) == language] for language in LANGUAGES}
    for language in [options.only] if options.only else list(LANGUAGES):
        before = results[language]
        done = results[language] = [one for one in before if one.verdict != SURVIVED]
        if len(done) < len(before) or score(done).counted < options.sample:
            for result in _run(console, language, options, before, deadline):
                done.append(result)
                mutant.write(options.out, [one for some in results.values() for one in some], seed=options.seed)
        done += _not_tried(before, done)
    everything = [one for some in results.values() for one in some]
    mutant.write(options.out, everything, seed=options.seed)
    _report(console, everything, options.out)
    return 0


def _earlier(path: Path) -> list[Result]:
    """The results in that file, without survivors of which known.toml has learnt since that they do not run here."""
    facts = known.read()
    return [
        one
        for one in mutant.read(path)
        if one.verdict != SURVIVED
        or not facts.runs_elsewhere(one.mutant, (ROOT / one.mutant.file).read_text(encoding="utf-8"))
    ]


def _run(
    console: Console, language: str, options: argparse.Namespace, before: list[Result], deadline: float | None
) -> Iterator[Result]:
    """The results of one language: of the survivors of earlier results, and of more mutants of the sample until as many
    as wanted are counted. Ends early when there are no more, or the time is over."""
    (dev_dir() / "mutate").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=dev_dir() / "mutate") as folder:
        console.print(f"{LANGUAGES[language]}: preparing, and running the tests without a mutant")
        bench: Bench = {"cpp": CppBench, "python": PythonBench}[language](Path(folder))
        for name in bench.broken:
            console.print(f"  left out, because it fails without a mutant: {name}", markup=False)
        survivors = list(_again(bench, before))
        tried = {one.mutant.change for one in before}
        sample = (one for one in _sample(bench, language, options.seed) if one.change not in tried)
        counted = score(one for one in before if one.verdict != SURVIVED).counted
        for number, one in enumerate(itertools.chain(survivors, sample)):
            late = deadline is not None and time.monotonic() > deadline
            if late or (number >= len(survivors) and counted >= options.sample):
                break
            if number % bench.control_every == 0:
                _control(bench)
            result = bench.test(one)
            counted += result.verdict in COUNTED
            _progress(console, number + 1, counted, options.sample, result)
            yield result
        _control(bench)
        bench.close()


def _control(bench: Bench) -> None:
    """A test that fails without a mutant, too, would kill every one from then on."""
    if problem := bench.control():
        results = f"the last {bench.control_every} results"
        raise ToolError(f"the tests fail without a mutant now ({problem}): {results} are wrong")


def _sample(bench: Bench, language: str, seed: int) -> Iterator[Mutant]:
    """Every mutant of a language in an order that depends on the seed alone."""
    root, facts = bench.workplace.checkout, known.read()
    makers: list[Callable[[], Mutant | None]]
    if language == "cpp":
        makers = [lambda one=one: one for one in cpp_mutants.candidates(root, facts)]  # type: ignore[misc]
    else:
        makers = [lambda one=one: one.mutant(root) for one in python_mutants.candidates(root)]  # type: ignore[misc]
    random.Random(seed).shuffle(makers)
    for make in makers:
        made = make()
        if made is not None and not facts.runs_elsewhere(made, (root / made.file).read_text(encoding="utf-8")):
            yield made


def _again(bench: Bench, earlier: Iterable[Result]) -> Iterator[Mutant]:
    """The mutants that lived, where their lines are still there."""
    for one in earlier:
        if one.verdict == SURVIVED:
            source = (bench.workplace.checkout / one.mutant.file).read_text(encoding="utf-8")
            found = one.mutant.found_in(source)
            if found is not None:
                yield found


def _not_tried(before: list[Result], done: list[Result]) -> list[Result]:
    """The survivors that there was no time for. Those whose lines are gone are forgotten."""
    tried = {one.mutant.change for one in done}
    return [
        one
        for one in before
        if one.verdict == SURVIVED
        and one.mutant.change not in tried
        and one.mutant.found_in((ROOT / one.mutant.file).read_text(encoding="utf-8"))
    ]


def _language(one: Mutant) -> str:
    return "python" if one.file.endswith(".py") else "cpp"


def _progress(console: Console, number: int, counted: int, wanted: int, result: Result) -> None:
    if result.verdict == SURVIVED:
        console.print(f"[yellow]survived[/] after {result.seconds:.0f} s")
        console.print(result.mutant.diff(), markup=False)
    if number % 20 == 0 or counted == wanted:
        console.print(f"{counted} of {wanted} counted, {number} made", style="dim")


def _report(console: Console, results: list[Result], out: Path) -> None:
    table = Table(title="./dev mutate")
    for column in ("", "counted", "killed", "score, 95 % interval", "not compiled", "identical", "listed"):
        table.add_column(column, justify="left" if not column else "right")
    for language, name in LANGUAGES.items():
        own = [one for one in results if _language(one.mutant) == language]
        if own:
            total, verdicts = score(own), [one.verdict for one in own]
            rest = (str(verdicts.count(v)) for v in (mutant.NOT_COMPILED, mutant.IDENTICAL, mutant.LISTED))
            table.add_row(name, str(total.counted), str(total.killed), str(total), *rest)
    survivors = [one.mutant.diff() for one in results if one.verdict == SURVIVED]
    console.print("\n\n".join([f"{len(survivors)} survived", *survivors]), markup=False)
    console.print(table)
    console.print(f"The results are in {out}; --again {out} tries those that survived again.", markup=False)
