"""What tools/settings.py writes on the machine of a developer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.settings import locked


def test_a_lock_never_empties_another_file(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "x.lock").symlink_to("target")
    with pytest.raises(OSError, match=r"x\.lock"), locked(tmp_path / "x.lock"):
        pytest.fail("the lock of another file was taken")
    assert (tmp_path / "target").read_text() == "precious"


def test_a_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path / "new" / "x.lock"):
            assert os.listdir(tmp_path / "new") == ["x.lock"]
