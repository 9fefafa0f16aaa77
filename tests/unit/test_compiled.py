"""The folder in which the tests keep the libraries that they compile and load."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import compiled
from tests.support.left_out import left_out_if


@left_out_if(sys.platform == "win32", "Windows has no numbers of users")
def test_one_that_somebody_else_has_made_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DLX_TEST_CACHE", raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert compiled.scratch().parent == tmp_path
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(PermissionError, match="belongs to somebody else: remove it, or set DLX_TEST_CACHE"):
        compiled.scratch()
