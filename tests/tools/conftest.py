"""Fixtures for the tests of the tools: a good wheel, which a test damages; the audit of it; and a copy of the checkout,
which a test edits."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools import other_systems, synthetic
from tools.audit import audit
from tools.audit.finding import Finding
from tools.audit.sdk_symbols import Sdks
from tools.audit.wheel import read
from tools.settings import ROOT

IMAGINARY_ROW = """
[[row]]
torch = "2.99"
cxx11_abi = true
std = 23
sdk = "2.99.1"
cpython = "3.12-3.17"
serves = "prefer"
"""


@pytest.fixture(scope="session")
def sdks(tmp_path_factory: pytest.TempPathFactory) -> Sdks:
    folder = synthetic.sdk(tmp_path_factory.mktemp("sdk"))
    other_systems.sdk(folder)
    return Sdks(lambda release, processor: folder / processor / release)


@pytest.fixture
def members() -> dict[str, bytes]:
    """The members of a good wheel. A test changes them before it calls the audit."""
    return synthetic.good()


@pytest.fixture
def run_audit(sdks: Sdks, tmp_path: Path) -> Callable[..., list[Finding]]:
    """A function that packs members as a wheel and returns the audit's findings. Its keywords: `platform` and `tag` of
    the wheel; `whole`."""

    def pack_and_audit(members: dict[str, bytes], whole: bool = False, **tags: Any) -> list[Finding]:
        return audit(read(synthetic.pack(tmp_path, members, **tags)), sdks, whole=whole)

    return pack_and_audit


@pytest.fixture
def audit_problems(run_audit: Callable[..., list[Finding]]) -> Callable[..., dict[str, str]]:
    """As `run_audit`, but without notes, and by check: a line of text for each problem that the check found."""

    def by_check(members: dict[str, bytes], **keywords: Any) -> dict[str, str]:
        problems: dict[str, str] = {}
        for finding in run_audit(members, **keywords):
            if not finding.note:
                problems[finding.check] = f"{problems.get(finding.check, '')}{finding.where}: {finding.text}\n"
        return problems

    return by_check


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that read variants.toml and of the pages generated from it. tools/ is not copied: its
    functions get the copy's path."""
    root = tmp_path / "checkout"
    for name in ("cmake", "docs", "python"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("_lib", "__pycache__"))
    for name in ("CMakeLists.txt", "README.md", "pyproject.toml", "variants.toml"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture
def with_imaginary_row(checkout: Path) -> Path:
    """A copy of the checkout whose variants.toml has one more row, for torch 2.99; nothing else is changed."""
    with (checkout / "variants.toml").open("a", encoding="utf-8") as toml:
        toml.write(IMAGINARY_ROW)
    return checkout
