"""`dlx-torch verify` on the real torch_npu and a simulated CANN: it passes with our table, beside torch's own where
there is one, and names what is wrong with a broken one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.snippets import verify as snippets
from tests.support import on_ascend
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import HAS_OWN_TABLE, HAS_TORCH_NPU
from tests.support.verified import (
    ALL,
    ALLOCATION,
    CURRENT,
    FAULTS,
    FORKED,
    FORMATS,
    GRAPH,
    HANDLE,
    NO_SETTINGS,
    THREAD,
    Verified,
    assert_noticed,
    assert_on_screen,
    verify,
    with_fault,
)

pytestmark = left_out_if(not HAS_TORCH_NPU, "torch_npu is not installed")

# An overlay leaves the other functions as torch has them.
CAN_HAVE = [name for name, (checks, _) in FAULTS.items() if {*checks} & {HANDLE, THREAD, CURRENT, FORKED}]
CAN_HAVE = CAN_HAVE if HAS_OWN_TABLE else [*FAULTS]
OURS = "overlay" if HAS_OWN_TABLE else "dlx"


def on_npu(folder: Path, fault: str | None = None, **env: str | None) -> Verified:
    broken = {} if fault is None else with_fault(fault, on_ascend.call(our_library), "libascendcl.so")
    return verify(folder, {**os.environ, **broken, **env})


def our_library() -> str:
    import dlx_torch_ext

    found = dlx_torch_ext.attach().library
    assert found
    return found


def test_our_table_passes_every_check(tmp_path: Path) -> None:
    seen = on_npu(tmp_path)
    assert seen.status == 0, seen
    assert seen.result["backend"] == "torch_npu"
    ours = [one for one in seen.result["checks"] if one["table"] == OURS]
    assert {(one["device"], one["check"]) for one in ours} == {(f"npu:{i}", check) for i in (0, 1) for check in ALL}
    verdicts = {one["check"]: one["verdict"] for one in ours if one["verdict"] != "ok"}
    assert verdicts == ({GRAPH: "left out", FORMATS: "no"} if HAS_OWN_TABLE else {GRAPH: "left out"})
    assert seen.stdout.startswith("the streams are right: ")


@left_out_if(not HAS_OWN_TABLE, "torch has no table of its own")
def test_torchs_own_table_is_put_beside_it_and_does_not_count(tmp_path: Path) -> None:
    seen = on_npu(tmp_path)
    assert seen.status == 0, seen
    others = [one for one in seen.result["checks"] if one["table"] == "upstream"]
    assert {one["check"] for one in others} == set(ALL)
    assert {one["check"] for one in others if one["verdict"] == "no"} >= {ALLOCATION, FORMATS, FORKED}
    assert not [one for one in others if one["verdict"] == "failed"]
    assert "npu:0 overlay" in seen.stdout
    assert "npu:0 upstream" in seen.stdout


@pytest.fixture(scope="module")
def failed() -> Any:
    """By the fault, the checks that failed, all in one process."""
    right = with_fault("", on_ascend.call(our_library), "libascendcl.so")
    return spawn.call(snippets.failed_checks, ["", *CAN_HAVE], env={**NO_SETTINGS, **right})


@pytest.mark.parametrize("fault", CAN_HAVE)
def test_what_is_wrong_is_noticed_and_named(fault: str, failed: Any) -> None:
    assert_noticed(failed[fault], fault, "npu", left_out=(GRAPH,))


def test_without_a_fault_nothing_fails(failed: Any) -> None:
    assert failed[""] == {}


@left_out_if(HAS_OWN_TABLE, "DLX_TORCH_LIBRARY names no overlay")
def test_a_wrong_stream_is_on_the_screen_and_in_the_exit_status(tmp_path: Path) -> None:
    seen = on_npu(tmp_path, "not ordered")
    assert_on_screen(seen)
    assert_noticed(seen.failed(), "not ordered", "npu", left_out=(GRAPH,))


def test_without_a_device_it_says_so_in_one_line(tmp_path: Path) -> None:
    seen = on_npu(tmp_path, DLX_SIM_ASCEND_DEVICES="0")
    assert seen.status == 2
    assert "dlx-torch: nothing to verify: " in seen.stderr.splitlines()[-1]
