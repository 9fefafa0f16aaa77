"""What the tests of the audit share: a good wheel to spoil, and how it is asked what it finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools import synthetic
from tools.audit import audit
from tools.audit.finding import Finding
from tools.audit.sdk_symbols import Sdks
from tools.audit.wheel import read


@pytest.fixture(scope="session")
def sdks(tmp_path_factory: pytest.TempPathFactory) -> Sdks:
    folder = synthetic.sdk(tmp_path_factory.mktemp("sdk"))
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
