"""A library on a file system that is mounted noexec: the reason says so, and not that the library is damaged."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.snippets import noexec
from tests.support import stub
from tests.support.left_out import left_out_if
from tests.support.mounts import may_mount
from tests.support.process import spawn
from tests.unit.test_load import refused

WORDS = "its file system is mounted noexec: put it on one that is not"


@left_out_if(not may_mount(), "this process may mount no file system")
@pytest.mark.fault("the package on a file system mounted noexec", "no table, with that reason")
def test_the_real_loaders_refusal_is_explained(tmp_path: Path) -> None:
    reason = spawn.call(noexec.reason, str(tmp_path), str(stub.compiled()))
    assert reason.endswith(f"): {WORDS}"), reason


@left_out_if(sys.platform != "linux", "other systems do not tell how a file system is mounted")
@pytest.mark.parametrize(("flags", "explained"), [(os.ST_NOEXEC, True), (0, False)])
def test_only_there(flags: int, explained: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    assert refused(tmp_path).endswith(WORDS) == explained


def test_a_system_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "statvfs", raising=False)
    assert refused(tmp_path).endswith("reinstall dlx-torch-ext")
