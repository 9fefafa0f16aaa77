"""Check format and types of everything in the repository: ./dev lint. The same checks run in CI and before a commit."""

from __future__ import annotations

import argparse
import subprocess
import sys

from tools.docs import generated
from tools.settings import ROOT, ToolError, run, tool

_PYTHON = ("dev", "python", "tools", "tests")
_CPP = (".cc", ".h", ".c", ".cpp", ".hpp")


def main(options: argparse.Namespace) -> int:
    python = [name for name in _PYTHON if (ROOT / name).exists()]
    cpp = _tracked(_CPP)
    if options.fix:
        subprocess.run([tool("ruff"), "check", "--quiet", "--fix-only", *python], cwd=ROOT, check=False)
        subprocess.run([tool("ruff"), "format", "--quiet", *python], cwd=ROOT, check=False)
        if cpp:
            subprocess.run([tool("clang-format"), "-i", *cpp], cwd=ROOT, check=False)
        generated.write()
    checks = {
        "ruff check": [tool("ruff"), "check", *python],
        "ruff format": [tool("ruff"), "format", "--check", *python],
        "mypy": [tool("mypy"), "--strict", *python],
        "clang-format": [tool("clang-format"), "--dry-run", "-Werror", *cpp] if cpp else [],
        "codespell": [tool("codespell"), *_tracked(("",))],
        "tables from variants.toml": [sys.executable, "-m", "tools.docs.generated"],
        "actionlint": [tool("actionlint"), "-shellcheck=", "-pyflakes="],  # which a machine may have or not
        "validate-pyproject": [tool("validate-pyproject"), "pyproject.toml"],
        **_newer(),
    }
    failed = []
    for name, command in checks.items():
        print(f"-- {name}", flush=True)
        if command and subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            failed.append(name)
    print(
        f"lint: {', '.join(failed)} failed; ./dev lint --fix puts right what it can"
        if failed
        else "lint: all of it holds"
    )
    return 1 if failed else 0


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


def _tracked(suffixes: tuple[str, ...]) -> list[str]:
    """The files that git tracks, or would: neither ignored nor deleted."""
    try:
        listed = run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], what="asking git for the files", cwd=ROOT
        )
    except ToolError as error:
        raise ToolError(f"{error}\nlint needs a git checkout") from None
    return [name for name in listed.splitlines() if name.endswith(suffixes) and (ROOT / name).is_file()]
