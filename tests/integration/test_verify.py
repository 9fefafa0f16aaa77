"""`dlx-torch verify` on the simulated CUDA, and on a ROCm that hands everything to it: it passes with our table, and
names what is wrong with a broken one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dlx_torch_ext
import pytest

from tests.simulators import cuda, rocm
from tests.simulators.vendor import default_cache, prepend
from tests.snippets import verify as snippets
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.process.finished import ROOT
from tests.support.this_torch import BUILT_FOR_CUDA, HAS_OWN_TABLE, NAME
from tests.support.verified import (
    ALL,
    FAULTS,
    FORMATS,
    NO_SETTINGS,
    Verified,
    assert_noticed,
    assert_on_screen,
    verify,
    with_fault,
)

pytestmark = [
    left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA"),
    left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, which stays in use"),
]

ON_CUDA = [fault for fault, (checks, _) in FAULTS.items() if checks != (FORMATS,)]


def on_cuda(folder: Path, *arguments: str, **env: str | None) -> Verified:
    return verify(folder, {**cuda.environment(), **env}, *arguments)


def cuda_with_fault(fault: str) -> dict[str, str]:
    """The environment in which the library before ours has this fault."""
    variables = cuda.environment()
    library = next(path for path in Path(variables["LD_LIBRARY_PATH"].split(":")[0]).glob("libcudart*"))
    return {**variables, **with_fault(fault, our_library("cuda"), library.name)}


def on_rocm(folder: Path, fault: str | None = None) -> Verified:
    """torch is one for CUDA. It says that it was built for ROCm, and the simulated HIP calls the simulated CUDA."""
    variables = cuda.environment()
    libraries = rocm.build(default_cache("rocm"))
    variables["LD_LIBRARY_PATH"] = prepend([libraries], "LD_LIBRARY_PATH", ":", variables)
    # The second for what the first imports while Python starts.
    pretend = prepend([ROOT / "tests" / "snippets" / "pretend_rocm", ROOT], "PYTHONPATH", ":", variables)
    broken = {} if fault is None else with_fault(fault, our_library("rocm"), rocm.RUNTIME)
    settings = {"DLX_TORCH_AUTOLOAD": "0", "DLX_SIM_ROCM_FOLLOWS_CUDA": "1", "PYTHONPATH": pretend}
    return verify(folder, {**variables, **settings, **broken})


def our_library(backend: str) -> str:
    found = dlx_torch_ext.attach().library
    assert found
    return str(Path(found).with_name(f"libdlx_torch_{backend}.so"))


def test_our_table_passes_every_check_on_both_devices(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path)
    assert seen.status == 0, seen
    assert seen.result["passed"]
    assert seen.result["end"] == "done"
    assert set(seen.result["devices"].values()) == {"Simulated CUDA device 0", "Simulated CUDA device 1"}
    assert {(one["device"], one["check"]) for one in seen.result["checks"]} == {
        (device, check) for device in ("cuda:0", "cuda:1") for check in ALL
    }
    assert {one["check"] for one in seen.result["checks"] if one["verdict"] != "ok"} == {FORMATS}
    assert seen.stdout.startswith("the streams are right: 20 ok, 0 failed\n")
    assert len(seen.stderr.splitlines()) == len(seen.result["checks"])


@pytest.fixture(scope="module")
def failed() -> Any:
    """By the fault, the checks that failed, all in one process."""
    return spawn.call(snippets.failed_checks, ["", *ON_CUDA], env={**NO_SETTINGS, **cuda_with_fault("")})


@pytest.mark.parametrize("fault", ON_CUDA)
def test_what_is_wrong_is_noticed_and_named(fault: str, failed: Any) -> None:
    assert_noticed(failed[fault], fault, "cuda")


def test_without_a_fault_nothing_fails(failed: Any) -> None:
    assert failed[""] == {}


@pytest.mark.parametrize("fault", ["NULL", "another device", "not ordered"])
def test_a_wrong_stream_is_on_the_screen_and_in_the_exit_status(fault: str, tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, **cuda_with_fault(fault))
    assert_on_screen(seen)
    assert_noticed(seen.failed(), fault, "cuda")


@pytest.mark.parametrize(
    ("fault", "words"), [("crash", "the process was killed by SIGABRT"), ("hang", "it did not end within 5 seconds")]
)
def test_a_table_that_ends_or_stops_the_process_is_named(fault: str, words: str, tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, "--timeout", "5", **cuda_with_fault(fault))
    assert seen.status == 1
    assert f"FAILED: cuda:0, stream by its handle, table dlx: {words}" in seen.stdout


def test_our_table_passes_on_rocm(tmp_path: Path) -> None:
    seen = on_rocm(tmp_path)
    assert seen.status == 0, seen
    assert seen.result["backend"] == "rocm"
    assert seen.result["runtime"]["library"] == rocm.RUNTIME
    assert {one["check"] for one in seen.result["checks"] if one["verdict"] != "ok"} == {FORMATS}


def test_a_wrong_stream_is_noticed_on_rocm(tmp_path: Path) -> None:
    seen = on_rocm(tmp_path, "not ordered")
    assert_on_screen(seen)
    assert_noticed(seen.failed(), "not ordered", "cuda")


def test_without_a_device_it_says_so_in_one_line(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, DLX_SIM_CUDA_DEVICES="0")
    text = "dlx-torch: nothing to verify: torch finds no device of CUDA, ROCm or Ascend here\n"
    assert (seen.status, seen.stdout, seen.stderr, seen.result) == (2, "", text, {})


def test_with_nothing_attached_it_fails_and_says_why(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, DLX_TORCH_DISABLE="1")
    assert seen.status == 1
    assert "torch.Tensor has no DLPack exchange table: " in seen.stdout


def test_one_device_is_enough(tmp_path: Path) -> None:
    seen = on_cuda(tmp_path, DLX_SIM_CUDA_DEVICES="1")
    assert seen.status == 0, seen
    assert set(seen.result["devices"]) == {"cuda:0"}
    assert seen.verdicts("order with another device current") == {"left out"}
