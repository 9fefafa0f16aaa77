"""Nothing is opened that is not trusted, and nothing that would be waited for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from dlx_torch_ext._load import load
from dlx_torch_ext._resolve import LIBRARY_VARIABLE, Accepted, Candidate, Rejected

from tests.snippets import trust
from tests.support import stub
from tests.support.installation import facts
from tests.support.left_out import left_out_if
from tests.support.process import spawn

pytestmark = left_out_if(sys.platform == "win32", "Windows has access lists, no owners and modes")


def reason(path: Path, name: str, exact: bool) -> str:
    verdict = load(Candidate(name, "dlx", Accepted(""), "cpu", str(path), exact), facts())
    assert isinstance(verdict, Rejected)
    assert "\n" not in verdict.reason
    return verdict.reason


@pytest.mark.parametrize(("name", "exact"), [(LIBRARY_VARIABLE, False), ("built here", True)])
@pytest.mark.fault(
    "a library planted in the cache, or where DLX_TORCH_LIBRARY leads",
    "not opened; the reason says who could write there",
)
def test_a_planted_library_does_not_run(name: str, exact: bool, library: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    planted = stub.library(library.with_name("planted.so"), f'CONSTRUCTOR_WRITES="{mark}"')
    planted.parent.chmod(0o777)
    assert f"{planted} is not opened, because {planted.parent} can be written" in reason(planted, name, exact)
    assert not mark.exists()
    planted.parent.chmod(0o755)
    planted.chmod(0o755)
    load(Candidate(name, "dlx", Accepted(""), "cpu", str(planted), exact), facts())
    assert mark.exists(), "the same library, in a folder that only we can write"


def test_a_library_of_the_installation_is_not_looked_at(library: Path) -> None:
    library.chmod(0o666)
    library.parent.chmod(0o777)
    verdict = load(Candidate("torch2.9-cxx11-cpu", "dlx", Accepted(""), "cpu", str(library)), facts())
    assert not isinstance(verdict, Rejected)


@pytest.mark.parametrize(("name", "exact"), [(LIBRARY_VARIABLE, False), ("built here", True), ("shipped", False)])
@pytest.mark.fault("a FIFO in the place of a library", "passed over, at once")
def test_a_fifo_does_not_hang(name: str, exact: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.so", 0o600)
    reason = spawn.call(trust.reason_for, str(tmp_path / "fifo.so"), name, exact)
    assert "not a regular file" in reason
