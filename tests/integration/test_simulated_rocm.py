"""The simulated libc10_hip answers by the names of both generations of PyTorch's hipify."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.rocm import build, environment
from tests.snippets import recorders
from tests.snippets import simulated_rocm as snippets
from tests.support.process import spawn
from tests.support.process.finished import ROOT

NAMES = {
    1: ["_ZN3c103hip19getCurrentHIPStreamEa", "_ZNK3c103hip9HIPStream6streamEv", "_ZN3c103hip12device_countEv"],
    2: ["_ZN3c104cuda20getCurrentCUDAStreamEa", "_ZNK3c104cuda10CUDAStream6streamEv", "_ZN3c104cuda12device_countEv"],
}


def simulated(function: Callable[..., Any], generation: int, *arguments: object, **env: str) -> Any:
    return spawn.call(function, NAMES[generation], *arguments, env={**environment(generation), **env})


@pytest.mark.parametrize("generation", [1, 2])
def test_streams_are_those_that_were_set(generation: int) -> None:
    assert simulated(snippets.streams_that_were_set, generation) == {
        "handles": [0x1000, 0xFFFF_8000_0000_2000],
        "device_type": {1: 6, 2: 1}[generation],  # c10::DeviceType: HIP, CUDA
        "indices": [1, 0],
        "after_reset": None,
    }


def test_a_stream_is_current_for_its_thread_only() -> None:
    assert simulated(snippets.streams_of_two_threads, 1) == [None, 0x2000, 0x1000]


def test_the_number_of_devices_can_be_set() -> None:
    error = "there are 2 simulated devices, and no number 3"
    assert simulated(snippets.count_and_error_beyond_it, 1, 3) == [2, error]
    assert simulated(snippets.count_and_error_beyond_it, 2, 3, DLX_SIM_ROCM_DEVICES="3")[0] == 3


def test_the_recorder_sees_every_call() -> None:
    assert simulated(snippets.recorded_calls, 1) == [True, ["getCurrentHIPStream", "HIPStream_stream"]]


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    assert "the simulated ROCm is not loaded" in spawn.call(recorders.error_without_simulation, "rocm")


def test_processes_may_build_at_once(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tests.simulators.rocm", "--out", str(tmp_path)]
    running = [subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert set(outputs) == {str(build(tmp_path))}
    assert list(tmp_path.iterdir()) == [Path(outputs[0])]


def test_a_third_generation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="generations 1 and 2, not 3"):
        build(tmp_path, 3)
