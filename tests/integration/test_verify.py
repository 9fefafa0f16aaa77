"""`dlx-torch verify` on the simulated CUDA: it passes with our table, and names what is wrong with a broken one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulators.cuda import environment
from tests.support.left_out import left_out_if
from tests.support.this_torch import BUILT_FOR_CUDA, HAS_OWN_TABLE, NAME
from tests.support.verified import Verified, verify, with_fault

pytestmark = [
    left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA"),
    left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, which stays in use"),
]


def on_cuda(folder: Path, *arguments: str, **env: str | None) -> Verified:
    return verify(folder, {**environment(), **env}, *arguments)


def runtime_library(env: dict[str, str]) -> str:
    folder = Path(env["LD_LIBRARY_PATH"].split(":")[0])
    return next(path.name for path in folder.iterdir() if path.name.startswith("libcudart"))


def with_broken_table(folder: Path, fault: str, *arguments: str) -> Verified:
    import dlx_torch_ext

    env = environment()
    right = dlx_torch_ext.attach().library
    assert right
    return verify(folder, {**env, **with_fault(fault, right, runtime_library(env))}, *arguments)


def test_our_table_passes_every_check_on_both_devices(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path)
    assert seen.status == 0, seen
    assert seen.result["passed"]
    assert set(seen.result["devices"].values()) == {"Simulated CUDA device 0", "Simulated CUDA device 1"}
    assert {one["device"] for one in seen.result["checks"]} == {"cuda:0", "cuda:1"}
    assert {one["verdict"] for one in seen.result["checks"]} == {"ok"}
    assert seen.stdout.startswith("the streams are right: ")
    assert len(seen.stderr.splitlines()) == len(seen.result["checks"])


def test_without_a_fault_the_library_of_these_tests_passes(tmp_path: Path) -> None:
    seen = with_broken_table(tmp_path, "")
    assert (seen.status, seen.failed()) == (0, {}), seen


ORDER = "order on a side stream"
# What is wrong: the checks that must notice, and words of theirs.
FAULTS = {
    "NULL": (["stream by its handle", ORDER, "order in another thread"], "NULL"),
    "another device": (["stream by its handle", ORDER, "order on the default stream"], "the second stream of cuda:"),
    "not ordered": (
        ["stream by its handle", ORDER, "order on the default stream", "order in another thread"],
        "which no stream here has",
    ),
    "first thread": (["order in another thread"], "stream of cuda:"),
    "nothing": (["stream by its handle", ORDER], "returned 0 and no stream"),
    "silent failure": (["stream by its handle", ORDER], "returned -1 without an exception"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_stream_is_noticed_and_named(fault: str, tmp_path: Path) -> None:
    checks, words = FAULTS[fault]
    seen = with_broken_table(tmp_path, fault)
    assert seen.status == 1
    said = seen.failed()
    assert set(checks) <= set(said), seen
    for check in checks:
        assert any(words in text for text in said[check]), said
        assert f"{check}, table dlx: {said[check][0]}" in seen.stdout
    assert not seen.result["passed"]
    assert seen.stdout.startswith("FAILED: ")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("crash", "the process was killed by SIGABRT"),
        ("hang", "it did not end within 20 seconds"),
    ],
)
def test_a_table_that_ends_or_stops_the_process_is_named(fault: str, words: str, tmp_path: Path) -> None:
    seen = with_broken_table(tmp_path, fault, "--timeout", "20")
    assert seen.status == 1
    assert f"FAILED: cuda:0, stream by its handle, table dlx: {words}" in seen.stdout


def test_without_a_device_it_says_so_in_one_line(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, DLX_SIM_CUDA_DEVICES="0")
    text = "dlx-torch: nothing to verify: torch finds no device of CUDA, ROCm or Ascend here\n"
    assert (seen.status, seen.stdout, seen.stderr, seen.result) == (2, "", text, {})


def test_with_nothing_attached_it_fails_and_says_why(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, DLX_TORCH_DISABLE="1")
    assert seen.status == 1
    assert "torch.Tensor has no DLPack exchange table: " in seen.stdout


def test_one_device_is_enough(tmp_path: Path) -> None:
    seen: Any = on_cuda(tmp_path, DLX_SIM_CUDA_DEVICES="1")
    assert seen.status == 0, seen
    assert set(seen.result["devices"]) == {"cuda:0"}
