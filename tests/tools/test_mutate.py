"""./dev mutate: what a mutant is, which are left out, how a sample is scored, and how its tests are run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.left_out import left_out_if
from tools.mutate import command, cpp_mutants, known, mutant, python_mutants
from tools.mutate.known import Equivalent, Known
from tools.mutate.mutant import IDENTICAL, KILLED, LISTED, NOT_COMPILED, SURVIVED, Mutant, Result
from tools.mutate.plausible import is_plausible, words_of
from tools.mutate.score import Score, score
from tools.mutate.session import Run
from tools.settings import ROOT, ToolError

SOURCE = "one\n  two\nthree\n  two\nfive\n"


def test_a_mutant_changes_its_lines_only() -> None:
    changed = "one\n  two\n3\n  two\nfive\n"
    made = mutant.between("file", SOURCE, changed)
    assert made == Mutant("file", 3, ("three",), ("3",))
    assert made.apply(SOURCE) == changed
    assert made.diff() == "file:3\n- three\n+ 3"


@pytest.mark.parametrize("changed", ["one\n  two\nfive\n", "one\n  two\nthree\nnew\n  two\nfive\n"])
def test_lines_that_go_or_come_are_a_mutant_too(changed: str) -> None:
    made = mutant.between("file", SOURCE, changed)
    assert made is not None
    assert made.apply(SOURCE) == changed


def test_no_change_is_no_mutant() -> None:
    assert mutant.between("file", SOURCE, SOURCE) is None


def test_a_mutant_is_found_again_where_lines_have_moved() -> None:
    made = Mutant("file", 3, ("three",), ("3",))
    assert made.found_in("new\n" + SOURCE) == Mutant("file", 4, ("three",), ("3",))
    assert Mutant("file", 4, ("  two",), ("  2",)).found_in(SOURCE) == Mutant("file", 4, ("  two",), ("  2",))
    assert made.found_in("one\n  two\n") is None
    with pytest.raises(ValueError, match="file has changed at line 3"):
        made.apply("new\n" + SOURCE)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = [Result(Mutant("file", 4, ("  two",), ("  2", "")), KILLED, "a test", 1.5)]
    mutant.write(tmp_path / "new" / "results.json", results, seed=1)
    assert mutant.read(tmp_path / "new" / "results.json") == results


# Wilson's interval as R's prop.test(correct = FALSE) and statsmodels' proportion_confint give it.
@pytest.mark.parametrize(
    ("killed", "counted", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (285, 300, 0.91915, 0.96951), (81, 263, 0.2553, 0.3662)],
)
def test_the_interval_is_wilsons(killed: int, counted: int, low: float, high: float) -> None:
    assert Score(killed, counted).interval == pytest.approx((low, high), abs=5e-5)


def test_only_mutants_that_ran_are_counted() -> None:
    verdicts = [KILLED, KILLED, SURVIVED, NOT_COMPILED, IDENTICAL, LISTED]
    found = score(Result(Mutant("file", 1, ("a",), ("b",)), verdict) for verdict in verdicts)
    assert (found.killed, found.counted) == (2, 3)
    assert str(Score(0, 0)) == "0.0 % (0.0-100.0)"


def test_survivors_are_kept_until_they_are_tried_again_or_gone() -> None:
    line = (ROOT / "dev").read_text(encoding="utf-8").splitlines()[0]
    killed, alive = Mutant("dev", 1, ("gone",), ("1",)), Mutant("dev", 1, (line,), ("2",))
    tried, gone = Mutant("dev", 1, (line,), ("3",)), Mutant("dev", 1, ("no such line",), ("4",))
    before = [Result(killed, KILLED), *(Result(one, SURVIVED) for one in (alive, tried, gone))]
    assert command._not_tried(before, [before[0], Result(tried, KILLED)]) == [Result(alive, SURVIVED)]


EQUIVALENT = Equivalent("file", "if (x[0] == 1) {", ("if (x[0] >= 1) {", "if (x[0] * 1) {"), "x[0] is at most 1")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Mutant("file", 1, ("  if (x[0] == 1) {",), ("  if (x[0] >= 1) {",)), "x[0] is at most 1"),
        (Mutant("file", 9, ("  if (x[0] == 1) {",), ("  if (x[0] != 1) {",)), ""),
        (Mutant("file", 9, ("  x[0] = 1;",), ("  x[0] = 2;",)), "nobody reads it"),
        (Mutant("other", 1, ("  if (x[0] == 1) {",), ("  if (x[0] >= 1) {",)), ""),
        (Mutant("file", 1, ("  if (x[1] == 1) {",), ("  if (x[0] >= 1) {",)), ""),
    ],
)
def test_a_listed_mutant_is_known_by_its_text(made: Mutant, reason: str) -> None:
    whole_line = Equivalent("file", "x[0] = 1;", ("*",), "nobody reads it")
    assert Known((EQUIVALENT, whole_line)).reason(made) == reason


@pytest.mark.parametrize("text", ["", 'reason = " "'])
def test_an_entry_needs_a_reason(text: str, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(f'[[equivalent]]\nfile = "a"\nline = "b"\nmutants = ["c"]\n{text}\n')
    with pytest.raises(ToolError, match="an entry has no 'reason': add it"):
        known.read(path)


def test_what_is_listed_is_still_there() -> None:
    """Entries for lines that are gone would hide nothing and mislead readers."""
    facts = known.read()
    for one in facts.elsewhere:
        source = (ROOT / one.file).read_text(encoding="utf-8").splitlines()
        assert len(one.lines(source)) < 60
    for entry in facts.equivalents:
        lines = (ROOT / entry.file).read_text(encoding="utf-8").splitlines()
        assert entry.line in [text.strip() for text in lines], entry


def test_survivors_that_have_been_listed_since_are_forgotten(tmp_path: Path) -> None:
    listed = known.read().elsewhere[0]
    inside = listed.lines((ROOT / listed.file).read_text(encoding="utf-8").splitlines())[0]
    results = [
        Result(Mutant(listed.file, line, ("a",), ("b",)), verdict)
        for line, verdict in ((inside, SURVIVED), (inside, KILLED), (1, SURVIVED))
    ]
    path = tmp_path / "results.json"
    mutant.write(path, results)
    assert command._earlier(path) == results[1:]


def test_the_files_are_there() -> None:
    for file in (*cpp_mutants.FILES, *python_mutants.FILES):
        assert (ROOT / file).is_file()


LINES = ["void f(int* a) {", "  for (int i = 0; i < 4; ++i) {", "    a[i] = i * 2;", "  }", "  g(a);", "}"]


@pytest.mark.parametrize(
    ("line", "after", "plausible"),
    [
        (2, ["  for (int i = 0; i <= 4; ++i) {"], True),
        (2, ["  for (int i = 0; i < 4; --i) {"], True),
        (3, ["    a[i] = i / 2;"], True),
        (3, ["    a[i] = i * 2;", "    break;"], True),
        (3, ["    /*a[i] = i * 2;*/"], True),
        (1, ["void f(int/ a) {"], False),  # a pointer
        (2, ["  for (int0 i = 0; i < 4; ++i) {"], False),  # another word
        (2, ["  for (int i = 0; i < 4; ++i {"], False),  # brackets
        (2, ["  /*for (int i = 0; i < 4; ++i) {*/"], False),
        (3, ["    a[i] = i * 2x;"], False),
        (5, ["  g(a);", "  break;"], False),  # outside of the loop
    ],
)
def test_what_cannot_compile_is_not_tried(line: int, after: list[str], plausible: bool) -> None:
    words = words_of(LINES)
    assert is_plausible(LINES[line - 1], after, LINES, line, words) == plausible


def test_annotations_are_no_code() -> None:
    plain = "from __future__ import annotations\ndef f(x: int | None = 1) -> str: return x\ny: int | str = 2\n"
    assert python_mutants.code(plain) == python_mutants.code(plain.replace("int |", "int -").replace("str:", "int:"))
    assert python_mutants.code(plain) != python_mutants.code(plain.replace("= 2", "= 3"))
    assert python_mutants.code(plain) != python_mutants.code(plain.replace("= 1", "= 3"))


def test_what_is_not_python_is_no_mutant() -> None:
    source = "def f(a, *, b): return a * b\n"
    assert python_mutants.differs(source, source.replace("a * b", "a // b"))
    assert not python_mutants.differs(source, source.replace("*,", "//,"))
    assert not python_mutants.differs(source, source)


def test_each_test_has_a_case_in_the_first_round_but_the_slow_ones() -> None:
    run = Run(durations={"a[1]": 0.2, "a[2]": 0.1, "a_cuda": 0.1, "b": 9.0, "c": 0.3})
    assert run.rounds() == [["a[2]", "c", "a_cuda"], ["a[1]", "b"]]
    run.kills["a[1]"] = 2
    run.kills["c"] = 1
    assert run.rounds() == [["a[1]", "c", "a_cuda"], ["a[2]", "b"]]


def test_those_of_cuda_keep_their_order() -> None:
    """One may see what another has left in the process, and would kill every mutant from then on."""
    run = Run(durations={"a": 0.1, "a_cuda": 0.2, "b_cuda[1]": 0.3, "b_cuda[2]": 0.4})
    order = run.rounds()
    run.kills.update({"b_cuda[2]": 3, "b_cuda[1]": 1})
    assert run.rounds() == order == [["a", "a_cuda", "b_cuda[1]"], ["b_cuda[2]"]]


def test_the_tests_of_the_module_come_first() -> None:
    run = Run(durations={"test_a.py::a": 0.2, "test_b.py::b[1]": 0.1, "test_b.py::b[2]": 0.3, "test_a.py::c": 9.0})
    assert run.rounds("test_b.py") == [["test_b.py::b[1]", "test_b.py::b[2]"], ["test_a.py::a"], ["test_a.py::c"]]


TESTS = """
import os, signal, time
def test_good(): pass
def test_bad(): assert False
def test_crash(): os.kill(os.getpid(), signal.SIGSEGV)
def test_busy():
    while True: pass
"""


@left_out_if(sys.platform != "linux", "the worker uses Linux's pidfd")
@pytest.mark.parametrize("collect", [True, False])
def test_a_worker_tells_how_tests_end(collect: bool, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    plan = {"imports": [], "arguments": [str(tmp_path), "-c", "/dev/null", f"--rootdir={tmp_path}"], "collect": collect}
    asked = [["good"], ["good", "bad"], ["bad", "good"], ["crash"], ["busy"]]
    tests = [[f"test_it.py::test_{name}" for name in names] for names in asked]
    limits = {"inline": True, "stop": True, "bytecode": False, "seconds": 600}
    # Starting pytest takes two seconds of a processor that others use, too.
    jobs = [{**limits, "tests": names, "cpu_seconds": 5 if "busy" in names[0] else 600} for names in tests]
    worker = subprocess.run(
        [sys.executable, "-m", "tools.mutate.worker", json.dumps(plan)],
        input="".join(json.dumps(job) + "\n" for job in jobs),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    answers: list[dict[str, Any]] = [json.loads(line) for line in worker.stdout.splitlines()]
    assert [answer["ending"] for answer in answers] == ["", "", "", "SIGSEGV", "timeout"]
    assert [answer["failed"] for answer in answers] == [[], *[["test_it.py::test_bad"]] * 2, [], []]
    assert list(answers[1]["durations"]) == tests[1]
    assert list(answers[2]["durations"]) == tests[2][:1]  # it stopped there
