"""What the tests of the tools share: a good wheel to spoil, and how the audit is asked what it finds; a checkout to
edit, and an edit."""

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

IMAGINARY = """
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
    """Of a good wheel; a test spoils them."""
    return synthetic.good()


@pytest.fixture
def look(sdks: Sdks, tmp_path: Path) -> Callable[..., list[Finding]]:
    """Packs the members and gives back what the audit says. Keywords: `platform` and `tag` of the wheel; `whole`."""

    def audited(members: dict[str, bytes], whole: bool = False, **tags: Any) -> list[Finding]:
        return audit(read(synthetic.pack(tmp_path, members, **tags)), sdks, whole=whole)

    return audited


@pytest.fixture
def found(look: Callable[..., list[Finding]]) -> Callable[..., dict[str, str]]:
    """As `look`, without notes: the words of each check that found something, its findings joined."""

    def words(members: dict[str, bytes], **how: Any) -> dict[str, str]:
        said: dict[str, str] = {}
        for finding in look(members, **how):
            if not finding.note:
                said[finding.check] = f"{said.get(finding.check, '')}{finding.where}: {finding.text}\n"
        return said

    return words


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what variants.toml is read by and of what is made from it, but for tools/, which take it by path."""
    root = tmp_path / "checkout"
    for name in ("cmake", "docs", "python"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("_lib", "__pycache__"))
    for name in ("CMakeLists.txt", "README.md", "pyproject.toml", "variants.toml"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture
def imaginary(checkout: Path) -> Path:
    """A checkout in which variants.toml has a row more, for torch 2.99, and nothing else is changed."""
    with (checkout / "variants.toml").open("a", encoding="utf-8") as toml:
        toml.write(IMAGINARY)
    return checkout
