"""The simulated libc10_hip answers by the names of both generations of PyTorch's hipify."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.rocm import build, environment
from tests.support.process import spawn
from tests.support.process.finished import ROOT

NAMES = {
    1: ["_ZN3c103hip19getCurrentHIPStreamEa", "_ZNK3c103hip9HIPStream6streamEv", "_ZN3c103hip12device_countEv"],
    2: ["_ZN3c104cuda20getCurrentCUDAStreamEa", "_ZNK3c104cuda10CUDAStream6streamEv", "_ZN3c104cuda12device_countEv"],
}
# What every snippet begins with. The functions are C++, and all their arguments and results go through registers.
PREAMBLE = """
import ctypes, json, threading
from tests.simulators.rocm import recorder

class Stream(ctypes.Structure):  # c10::Stream
    _fields_ = [("type", ctypes.c_int8), ("index", ctypes.c_int8), ("id", ctypes.c_int64)]

get, handle, count = (getattr(ctypes.CDLL("libc10_hip.so"), name) for name in NAMES)
get.argtypes, get.restype = [ctypes.c_int8], Stream
handle.restype = ctypes.c_void_p

def current(device):
    stream = get(device)
    return handle(ctypes.byref(stream))
"""


def simulated(code: str, generation: int, **env: str) -> Any:
    code = f"NAMES = {NAMES[generation]}\n{PREAMBLE}{textwrap.dedent(code)}"
    return spawn.code(code, env={**environment(generation), **env}).value


@pytest.mark.parametrize("generation", [1, 2])
def test_streams_are_those_that_were_set(generation: int) -> None:
    code = """
        recorder.set_stream(0, 0x1000)
        recorder.set_stream(1, 0xFFFF_8000_0000_2000)
        answers = [current(0), current(1), get(1).type, get(1).index, get(-1).index]
        recorder.set_stream(1, None)
        print(json.dumps([*answers, current(1)]))"""
    device_type = {1: 6, 2: 1}[generation]  # c10::DeviceType: HIP, CUDA
    assert simulated(code, generation) == [0x1000, 0xFFFF_8000_0000_2000, device_type, 1, 0, None]


def test_a_stream_is_current_for_its_thread_only() -> None:
    code = """
        recorder.set_stream(1, 0x1000)
        seen = []
        def work():
            seen.append(current(1))
            recorder.set_stream(1, 0x2000)
            seen.append(current(1))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print(json.dumps([*seen, current(1)]))"""
    assert simulated(code, 1) == [None, 0x2000, 0x1000]


def test_the_number_of_devices_can_be_set() -> None:
    code = """
        try:
            recorder.set_stream(3, 0x1000)
        except ValueError as error:
            print(json.dumps([count(), str(error)]))"""
    assert simulated(code, 1) == [2, "there are 2 simulated devices, and no number 3"]
    assert simulated(code, 2, DLX_SIM_ROCM_DEVICES="3")[0] == 3


def test_the_recorder_sees_every_call() -> None:
    code = """
        recorder.reset()
        current(1)
        print(json.dumps([recorder.simulated(), recorder.calls()]))"""
    assert simulated(code, 1) == [True, ["getCurrentHIPStream", "HIPStream_stream"]]


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    code = """if True:
        from tests.simulators.rocm import recorder
        assert not recorder.simulated()
        recorder.calls()"""
    assert "the simulated ROCm is not loaded" in spawn.code(code).stderr


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
