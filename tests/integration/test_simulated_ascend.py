"""The simulated Ascend runs the torch_npu of this interpreter, if there is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulators.ascend import build, environment
from tests.simulators.vendor import installed
from tests.snippets import recorders
from tests.snippets import simulated_ascend as snippets
from tests.support import on_ascend
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.process.finished import ROOT
from tests.support.this_torch import CALLS_EXTENSIONS, HAS_TORCH_NPU

with_torch_npu = left_out_if(not HAS_TORCH_NPU, "torch_npu is not installed")


def builder(torch_npu_dir: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.simulators.ascend", "--torch-npu", str(torch_npu_dir), "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@with_torch_npu
def test_two_devices_are_there() -> None:
    assert on_ascend.call(snippets.available_count_and_name) == [True, 2, "Ascend910B1"]


@with_torch_npu
@pytest.mark.parametrize("autoload", ["0", "1"])
def test_importing_torch_alone_is_enough_where_autoload_is_on(autoload: str) -> None:
    env = {**environment(), "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    expected = autoload == "1" and CALLS_EXTENSIONS
    assert spawn.call(snippets.torch_alone_brings_torch_npu, env=env) is expected


@with_torch_npu
def test_the_number_of_devices_can_be_set() -> None:
    for count, available in (("3", True), ("0", False)):
        env = {**environment(), "DLX_SIM_ASCEND_DEVICES": count}
        assert spawn.call(snippets.available_and_count, env=env) == [available, int(count)]


@with_torch_npu
def test_copies_keep_the_values_and_the_device() -> None:
    on_ascend.call(snippets.copies_keep_values_and_device)


@with_torch_npu
def test_memory_ends_as_torch_expects() -> None:
    text, total, device = on_ascend.call(snippets.too_much_memory)
    assert "NPU out of memory" in text
    assert (total, device) == (8 << 30, "npu:1")


@with_torch_npu
def test_streams_are_distinct_and_current_where_they_should_be() -> None:
    on_ascend.call(snippets.streams_are_distinct_and_current)


@with_torch_npu
def test_the_current_stream_is_a_threads_own() -> None:
    assert on_ascend.call(snippets.stream_of_two_threads) == [True, True, True]


@with_torch_npu
def test_the_recorder_sees_every_call() -> None:
    recorded = on_ascend.call(snippets.recorded_calls)
    assert recorded["simulated"]
    # A thread of torch_npu's own still clears up what was there before.
    assert [name for name in recorded["host"] if not name.startswith("aclDestroy")] == []
    assert {"aclrtMalloc", "aclrtMallocAlign32"} & set(recorded["allocation"])
    assert "aclrtMemcpyAsync" in recorded["copy"]


@with_torch_npu
@pytest.mark.parametrize("operator", snippets.OPERATORS)
def test_stream_waits_for_the_queue_unless_told_not_to(operator: str) -> None:
    expected = {"npu_stream": True, "stream()": True, "stream(true)": True, "stream(false)": False}
    assert on_ascend.call(snippets.getters_that_wait, operator, expected) == expected


@with_torch_npu
def test_it_is_the_queue_of_the_current_device_that_stream_waits_for() -> None:
    for current, expected in ((0, False), (1, True)):
        assert on_ascend.call(snippets.waits_for_the_queue_of, current, expected) is expected


@with_torch_npu
def test_a_failed_queue_throws_once() -> None:
    streams = on_ascend.call(snippets.streams_of_a_failed_queue)
    first, second = streams["waiting"]
    assert streams["without_waiting"]
    assert "The Inner error is reported as above" in first[0]
    assert len(first) > 1
    assert second is True


@with_torch_npu
def test_a_queue_that_cannot_be_waited_for_gives_null() -> None:
    streams = on_ascend.call(snippets.streams_of_a_queue_that_cannot_be_waited_for)
    assert streams == {"waiting": [None, None], "without_waiting": True, "afterwards": True}


@with_torch_npu
def test_processes_may_build_at_once(tmp_path: Path) -> None:
    running = [builder(installed("torch_npu"), tmp_path) for _ in range(2)]
    outputs = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert set(outputs) == {str(build(installed("torch_npu"), tmp_path))}
    assert list(tmp_path.iterdir()) == [Path(outputs[0])]


@left_out_if(HAS_TORCH_NPU, "torch_npu is installed")
def test_without_torch_npu_there_is_nothing_to_simulate() -> None:
    with pytest.raises(ValueError, match="torch_npu is not installed for this interpreter"):
        environment()


def test_a_folder_without_torch_npu_is_refused(tmp_path: Path) -> None:
    refused = builder(tmp_path, tmp_path)
    _, error = refused.communicate()
    assert refused.returncode == 2
    assert "is not an installed torch_npu" in error
    assert len(error.splitlines()) == 1


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    assert "the simulated Ascend is not loaded" in spawn.call(recorders.error_without_simulation, "ascend")
