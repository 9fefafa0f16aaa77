"""The simulated Ascend carries the torch_npu of this interpreter, where there is one."""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.util
import subprocess
import sys
import textwrap
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.ascend import build, environment
from tests.simulators.record import core_library
from tests.simulators.vendor import installed
from tests.support.process import fork, spawn
from tests.support.process.finished import ROOT

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])
# What every snippet begins with. `handle(drain)` asks libtorch_npu for the current stream of npu:1 by its C++ names;
# an exception out of it ends the process, since ctypes knows none.
PREAMBLE = """
import ctypes, json, os, threading, warnings
warnings.simplefilter("ignore")  # of torch_npu's own
import torch, torch_npu
from tests.simulators.ascend import recorder

library = next(line.split()[-1] for line in open("/proc/self/maps") if "libtorch_npu.so" in line)
npu = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_NOW)

def handle(drain=None):
    stream = (ctypes.c_int64 * 8)()
    npu._ZN7c10_npu19getCurrentNPUStreamEa(ctypes.byref(stream), ctypes.c_int8(1))  # a class: by a hidden pointer
    get, more = npu._ZNK7c10_npu9NPUStream6streamEv, ()
    if drain is not None:
        get, more = npu._ZNK7c10_npu9NPUStream6streamEb, (ctypes.c_bool(drain),)
    get.restype = ctypes.c_void_p
    return get(ctypes.byref(stream), *more)

def settled(*shape):
    # A tensor on npu:1, with its operators compiled and nothing queued.
    x = torch.zeros(*shape, device="npu:1")
    x.add_(x).copy_(x.clone())
    torch.npu.synchronize(1)
    return x
"""


def simulated(code: str, **env: str) -> Any:
    """The snippet's `answer`: from a fork, where this process was started on a simulated Ascend; that saves seconds."""
    snippet = PREAMBLE + textwrap.dedent(code)
    if started_on_it() and not env:
        return fork.code(snippet, {})
    return spawn.code(f"{snippet}\nprint(json.dumps(answer))", env={**environment(), **env}).value


@functools.lru_cache
def started_on_it() -> bool:
    try:
        ctypes.CDLL(core_library("ascend"))  # found only where LD_LIBRARY_PATH has its folder
    except OSError:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch_npu's own
        importlib.import_module("torch_npu")  # so that no fork has to
    return True


def command(torch_npu_dir: Path, out: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.simulators.ascend", "--torch-npu", str(torch_npu_dir), "--out", str(out)]
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


if importlib.util.find_spec("torch_npu"):

    def test_two_devices_are_there() -> None:
        code = """
            answer = [torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_name(1)]"""
        assert simulated(code) == [True, 2, "Ascend910B1"]

    @pytest.mark.parametrize("autoload", ["0", "1"])
    def test_importing_torch_alone_is_enough_where_autoload_is_on(autoload: str) -> None:
        code = """
            import sys, torch
            print(str("torch_npu" in sys.modules and torch.npu.is_available()).lower())"""
        env = {**environment(), "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
        fires = autoload == "1" and TORCH >= (2, 5)
        assert spawn.code(code, env=env).value is fires

    def test_the_number_of_devices_can_be_set() -> None:
        code = "answer = [torch.npu.is_available(), torch.npu.device_count()]"
        assert simulated(code, DLX_SIM_ASCEND_DEVICES="3") == [True, 3]
        assert simulated(code, DLX_SIM_ASCEND_DEVICES="0") == [False, 0]

    def test_copies_keep_the_values_and_the_device() -> None:
        code = """
            x = torch.arange(12.0).reshape(3, 4)
            for device in ("npu:0", "npu:1"):
                y = x.to(device)
                assert str(y.device) == device and torch.equal(y.cpu(), x)
                assert torch.npu.current_device() == 0
            z = x.to("npu:0").to("npu:1")
            assert str(z.device) == "npu:1" and torch.equal(z.cpu(), x)
            pinned = x.pin_memory()
            assert pinned.is_pinned() and not x.is_pinned()
            assert torch.equal(pinned.to("npu:1", non_blocking=True).cpu(), x)
            torch.npu.synchronize()
            answer = True"""
        assert simulated(code)

    def test_memory_ends_as_torch_expects() -> None:
        code = """
            x = torch.empty(1 << 20, device="npu:1")
            try:
                torch.empty(1 << 42, device="npu:1")
            except RuntimeError as error:
                answer = [str(error).splitlines()[0], torch.npu.mem_get_info(1)[1], str(x.device)]"""
        text, total, device = simulated(code)
        assert "NPU out of memory" in text
        assert (total, device) == (8 << 30, "npu:1")

    def test_streams_are_distinct_and_current_where_they_should_be() -> None:
        code = """
            streams = [torch.npu.Stream(device=i // 3) for i in range(6)]
            defaults = [torch.npu.current_stream(i).npu_stream for i in (0, 1)]
            handles = {*defaults, *(s.npu_stream for s in streams)}
            assert len(handles) == 8 and 0 not in handles
            for i, s in enumerate(streams):
                with torch.npu.stream(s):
                    assert torch.npu.current_device() == i // 3
                    assert torch.npu.current_stream().npu_stream == s.npu_stream
                assert torch.npu.current_stream(i // 3).npu_stream == defaults[i // 3]
            event = torch.npu.Event()
            event.record(streams[0])
            streams[1].wait_event(event)
            assert event.query() and streams[1].query()
            streams[1].synchronize()
            answer = True"""
        assert simulated(code)

    def test_the_current_stream_is_a_threads_own() -> None:
        code = """
            seen = {}
            barrier = threading.Barrier(2)
            def work(device):
                torch.npu.set_device(device)
                stream = torch.npu.Stream(device=device)
                with torch.npu.stream(stream):
                    barrier.wait()
                    seen[device] = torch.npu.current_stream(device).npu_stream == stream.npu_stream
                    barrier.wait()
            threads = [threading.Thread(target=work, args=(device,)) for device in (0, 0)]
            default = torch.npu.current_stream(0).npu_stream
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            answer = [seen[0], torch.npu.current_stream(0).npu_stream == default]"""
        assert simulated(code) == [True, True]

    def test_the_recorder_sees_every_call() -> None:
        code = """
            torch.zeros(1, device="npu:0")
            torch.npu.synchronize(0)  # the thread of the queue has begun: its first act is a call of its own
            recorder.reset()
            torch.empty(4, 4)[1:]
            none = recorder.calls()
            x = torch.empty(1 << 22, device="npu:0")
            allocation = recorder.calls()
            recorder.reset()
            x.copy_(torch.empty(1 << 22, device="npu:0"))
            torch.npu.synchronize()
            answer = [recorder.simulated(), none, allocation, recorder.calls()]"""
        on, none, allocation, copy = simulated(code)
        assert on
        assert none == []
        assert {"aclrtMalloc", "aclrtMallocAlign32"} & set(allocation)
        assert "aclrtMemcpyAsync" in copy

    @pytest.mark.parametrize("operator", ["x.add_(y)", "x.copy_(y)", "x.zero_()"])
    def test_stream_waits_for_the_queue_unless_told_not_to(operator: str) -> None:
        code = """
            x, y = settled(64, 64), settled(64, 64)
            torch.npu.set_device(1)
            answers = {}
            for name, get in {"python": lambda: torch.npu.current_stream().npu_stream, "stream()": handle,
                              "true": lambda: handle(True), "false": lambda: handle(False)}.items():
                handles = []
                answers[name] = recorder.drained(lambda: OPERATOR, lambda: handles.append(get()))
                torch.npu.synchronize()
                assert handles == [handle()]
            answer = answers""".replace("OPERATOR", operator)
        assert simulated(code) == {"python": True, "stream()": True, "true": True, "false": False}

    def test_it_is_the_queue_of_the_current_device_that_stream_waits_for() -> None:
        code = """
            x = settled(64, 64)
            answers = [recorder.drained(lambda: x.add_(x), handle)]
            torch.npu.synchronize(1)
            with torch.npu.device(1):
                answers.append(recorder.drained(lambda: x.add_(x), handle))
            answer = answers"""
        assert simulated(code) == [False, True]

    def test_a_failed_queue_throws_once() -> None:
        code = """
            x = settled(64, 64)
            torch.npu.set_device(1)
            stream = handle()
            recorder.failed(lambda: x.add_(x))
            without = handle(False)
            texts = []
            for _ in range(2):
                try:
                    texts.append(torch.npu.current_stream().npu_stream == stream)
                except RuntimeError as error:
                    texts.append(str(error).splitlines())
            answer = [without == stream, texts]"""
        untouched, (first, second) = simulated(code)
        assert untouched
        assert "The Inner error is reported as above" in first[0]
        assert len(first) > 1
        assert second is True

    def test_a_queue_that_cannot_be_waited_for_gives_null() -> None:
        code = """
            x = settled(64, 64)
            torch.npu.set_device(1)
            stream = handle()
            recorder.slow_queue(0.5)
            x.add_(x)
            with recorder.broken_queue():
                answers = [handle(), handle(True), handle(False) == stream]
            recorder.slow_queue(0)
            torch.npu.synchronize()
            answer = [answers, handle() == stream]"""
        assert simulated(code) == [[None, None, True], True]

    def test_processes_may_build_at_once(tmp_path: Path) -> None:
        running = [command(installed("torch_npu"), tmp_path) for _ in range(2)]
        outputs = [process.communicate()[0].strip() for process in running]
        assert [process.returncode for process in running] == [0, 0]
        assert set(outputs) == {str(build(installed("torch_npu"), tmp_path))}
        assert list(tmp_path.iterdir()) == [Path(outputs[0])]

else:

    def test_without_torch_npu_there_is_nothing_to_simulate() -> None:
        with pytest.raises(ValueError, match="torch_npu is not installed for this interpreter"):
            environment()


def test_a_folder_without_torch_npu_is_refused(tmp_path: Path) -> None:
    refused = command(tmp_path, tmp_path)
    _, error = refused.communicate()
    assert refused.returncode == 2
    assert "is not an installed torch_npu" in error
    assert len(error.splitlines()) == 1


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    code = """if True:
        from tests.simulators.ascend import recorder
        assert not recorder.simulated()
        recorder.calls()"""
    assert "the simulated Ascend is not loaded" in spawn.code(code).stderr
