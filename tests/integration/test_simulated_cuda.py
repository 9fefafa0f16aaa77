"""The simulated CUDA runs the torch of this interpreter, or says that there is nothing to simulate."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.cuda import build, environment, installed_torch
from tests.snippets import recorders
from tests.snippets import simulated_cuda as snippets
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.process.finished import ROOT
from tests.support.this_torch import BUILT_FOR_CUDA

on_a_cuda_build = left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")


def simulated(function: Callable[..., Any], **env: str) -> Any:
    return spawn.call(function, env={**environment(), **env})


def builder(torch_dir: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.simulators.cuda", "--torch", str(torch_dir), "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@on_a_cuda_build
def test_two_devices_are_there() -> None:
    properties = [[f"Simulated CUDA device {i}", 8, 0, 8 << 30] for i in (0, 1)]
    assert simulated(snippets.devices) == {"available": True, "properties": properties}


@on_a_cuda_build
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_number_of_devices_can_be_set(count: int) -> None:
    assert simulated(snippets.available_and_count, DLX_SIM_CUDA_DEVICES=str(count)) == [count > 0, count]


@on_a_cuda_build
def test_copies_keep_the_values() -> None:
    simulated(snippets.copies_keep_the_values)


@on_a_cuda_build
def test_streams_are_distinct_and_current_where_they_should_be() -> None:
    simulated(snippets.streams_are_distinct_and_current)


@on_a_cuda_build
def test_errors_are_torchs_own() -> None:
    memory, ordinal = simulated(snippets.errors_of_torch)
    assert memory.startswith("OutOfMemoryError: CUDA out of memory")
    assert "invalid device ordinal" in ordinal


@on_a_cuda_build
def test_the_recorder_sees_every_call() -> None:
    recorded = simulated(snippets.recorded_calls)
    assert recorded["simulated"]
    assert recorded["host"] == []
    assert "cudaMalloc" in recorded["allocation"]
    assert {"cudaLaunchKernel", "__cudaLaunchKernel"} & set(recorded["kernel"])  # the second since CUDA 13


@on_a_cuda_build
def test_tvm_ffi_runs_on_it() -> None:
    # Without its add-on for torch, which it would compile if it is missing.
    seen = simulated(snippets.round_trip_through_tvm_ffi, TVM_FFI_DISABLE_TORCH_C_DLPACK="1")
    assert seen == ["cuda:1", "cuda:1", True]


@on_a_cuda_build
def test_it_comes_before_nvidias_own_packages(tmp_path: Path) -> None:
    (tmp_path / "torch").symlink_to(installed_torch())
    (tmp_path / "nvidia").mkdir()
    env = environment(tmp_path / "torch")
    assert "libcudart.so" in env["LD_PRELOAD"]
    assert spawn.call(snippets.available_and_count, env=env) == [True, 2]


@on_a_cuda_build
def test_processes_may_build_at_once(tmp_path: Path) -> None:
    running = [builder(installed_torch(), tmp_path) for _ in range(2)]
    outputs = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert set(outputs) == {str(build(installed_torch(), tmp_path))}
    assert list(tmp_path.iterdir()) == [Path(outputs[0])]


@left_out_if(BUILT_FOR_CUDA, "torch is built for CUDA")
def test_a_build_without_cuda_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a CUDA build: nothing to simulate"):
        environment(cache=tmp_path)
    refused = builder(installed_torch(), tmp_path)
    output, error = refused.communicate()
    assert (refused.returncode, output, len(error.splitlines())) == (2, "", 1)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_torch_is_refused(tmp_path: Path) -> None:
    refused = builder(tmp_path, tmp_path)
    _, error = refused.communicate()
    assert refused.returncode == 2
    assert "is not an installed torch" in error
    assert len(error.splitlines()) == 1


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    assert "the simulated CUDA is not loaded" in spawn.call(recorders.error_without_simulation, "cuda")
