"""This package in a zip archive on sys.path, with a real torch: torch finds and calls it there, and nothing raises. The
commands are tested in tests/unit/test_archive.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import dlx_torch_ext

from tests.snippets import autoload
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import CALLS_EXTENSIONS, HAS_OWN_TABLE, NAME

INSTALLED = Path(dlx_torch_ext.__file__).parent


@left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own")
@left_out_if(not CALLS_EXTENSIONS, f"{NAME} calls no extension")
def test_torch_calls_it_and_the_reason_is_the_archive(tmp_path: Path) -> None:
    for folder in INSTALLED.parent.glob("dlx_torch_ext*"):
        shutil.copytree(folder, tmp_path / "site" / folder.name)
    archive = shutil.make_archive(str(tmp_path / "site"), "zip", tmp_path / "site")
    path = os.pathsep.join([archive, os.environ.get("PYTHONPATH", "")])
    status = spawn.call(autoload.status, env={"PYTHONPATH": path})
    assert status["provider"] == "none"
    assert status["reason"].startswith(f"dlx_torch_ext is imported from the archive {archive}, and")
