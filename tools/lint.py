"""Check format, types and spelling of everything in the repository, as CI does: ./dev lint. With files, only the quick
checks of these files, as the hook before a commit does: ./dev lint FILE..."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from tools import tidy
from tools.checks import Check, run_all
from tools.docs import generated
from tools.settings import ROOT, ToolError, run, tool

_PYTHON = ("dev", "python", "tools", "tests", "benchmarks")
_CPP = (".cc", ".h", ".c", ".cpp", ".hpp")
_CMAKE = ("CMakeLists.txt", ".cmake")


def main(options: argparse.Namespace) -> int:
    files = [os.path.relpath(file.resolve(), ROOT) for file in options.files] or _tracked()
    python = [name for name in files if name == "dev" or name.endswith(".py")]
    cpp = [name for name in files if name.endswith(_CPP)]
    cmake = [name for name in files if name.endswith(_CMAKE)]
    if options.fix:
        _fix(python, cpp, cmake)
    checks = {
        "ruff check": [tool("ruff"), "check", *python] if python else [],
        "ruff format": [tool("ruff"), "format", "--check", *python] if python else [],
        "clang-format": [tool("clang-format"), "--dry-run", "-Werror", *cpp] if cpp else [],
        "gersemi": [tool("gersemi"), "--check", "--diff", "--warnings-as-errors", *cmake] if cmake else [],
        "codespell": [tool("codespell"), *files],
        **({} if options.files else _whole()),
    }
    every = [Check(name, [command]) for name, command in checks.items() if command]
    failed = run_all([*every, *([] if options.files else [_clang_tidy()])], first="mypy")
    if failed:
        print(f"lint: {', '.join(failed)} failed; ./dev lint --fix corrects what a program can correct")
    else:
        print("lint: every check passed")
    return 1 if failed else 0


def _clang_tidy() -> Check:
    try:
        return Check("clang-tidy", tidy.commands(), tidy.passed, tidy.findings)
    except ToolError as error:
        return Check("clang-tidy", [], problem=str(error))


def _fix(python: list[str], cpp: list[str], cmake: list[str]) -> None:
    if python:
        subprocess.run([tool("ruff"), "check", "--quiet", "--fix-only", *python], cwd=ROOT, check=False)
        subprocess.run([tool("ruff"), "format", "--quiet", *python], cwd=ROOT, check=False)
    if cpp:
        subprocess.run([tool("clang-format"), "-i", *cpp], cwd=ROOT, check=False)
    if cmake:
        subprocess.run([tool("gersemi"), "--quiet", "-i", *cmake], cwd=ROOT, check=False)
    generated.write()


def _whole() -> dict[str, list[str]]:
    """The checks that look at more than one file, or take long."""
    return {
        "mypy": [tool("mypy"), "--strict", *(name for name in _PYTHON if (ROOT / name).exists())],
        "CMakePresets.json": [tool("cmake"), "--list-presets=all"],
        "tables from variants.toml": [sys.executable, "-m", "tools.docs.generated"],
        "actionlint": [tool("actionlint"), "-shellcheck=", "-pyflakes="],  # which a machine may have or not
        "validate-pyproject": [tool("validate-pyproject"), "pyproject.toml"],
        **_newer(),
    }


def _newer() -> dict[str, list[str]]:
    """The checkers that have no release for the oldest CPython of ./dev. cibuildwheel reads its part of pyproject.toml
    for each platform, and prints what it would build."""
    if sys.version_info < (3, 11):
        print("-- without zizmor and cibuildwheel, which need CPython 3.11 or newer")
        return {}
    checks = {"zizmor": [tool("zizmor"), "--offline", "--pedantic", "--strict-collection", "--quiet", ".github"]}
    identifiers = [sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform"]
    for system, archs in (("linux", "x86_64,aarch64"), ("macos", "arm64"), ("windows", "AMD64")):
        checks[f"cibuildwheel, {system}"] = [*identifiers, system, "--archs", archs]
    return checks


def _tracked() -> list[str]:
    """The files that git tracks, or would: neither ignored nor deleted."""
    try:
        listed = run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], what="asking git for the files", cwd=ROOT
        )
    except ToolError as error:
        raise ToolError(f"{error}\nlint needs a git checkout") from None
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]
