"""torch_npu on the simulated Ascend, without our table."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.simulators.ascend import recorder

OPERATORS: dict[str, Callable[[Any, Any], object]] = {
    "x.add_(y)": lambda x, y: x.add_(y),
    "x.copy_(y)": lambda x, y: x.copy_(y),
    "x.zero_()": lambda x, y: x.zero_(),
}


@functools.cache
def libtorch_npu() -> ctypes.CDLL:
    import torch_npu  # noqa: F401

    maps = Path("/proc/self/maps").read_text().splitlines()
    path = next(line.split()[-1] for line in maps if "libtorch_npu.so" in line)
    return ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)


def npu1_stream(wait: bool | None = None) -> int | None:
    """The current stream of npu:1, by the C++ functions of libtorch_npu: `stream()`, or `stream(wait)`.

    If they throw, the process ends: ctypes knows no C++ exceptions.
    """
    stream = (ctypes.c_int64 * 8)()
    # An NPUStream has a destructor, so it is returned through a hidden pointer.
    libtorch_npu()._ZN7c10_npu19getCurrentNPUStreamEa(ctypes.byref(stream), ctypes.c_int8(1))
    if wait is None:
        function, arguments = libtorch_npu()._ZNK7c10_npu9NPUStream6streamEv, []
    else:
        function, arguments = libtorch_npu()._ZNK7c10_npu9NPUStream6streamEb, [ctypes.c_bool(wait)]
    function.restype = ctypes.c_void_p
    handle: int | None = function(ctypes.byref(stream), *arguments)
    return handle


def idle_tensor(device: str = "npu:1") -> Any:
    """A tensor whose operators have run before, so that they go through the queue, and nothing is queued."""
    x = torch.zeros(64, 64, device=device)
    x.add_(x).copy_(x.clone())
    torch.npu.synchronize(device)
    return x


def available_count_and_name() -> list[Any]:
    return [torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_name(1)]


def available_and_count() -> list[Any]:
    import torch_npu  # noqa: F401

    return [torch.npu.is_available(), torch.npu.device_count()]


def torch_alone_brings_torch_npu() -> bool:
    return bool("torch_npu" in sys.modules and torch.npu.is_available())


def copies_keep_values_and_device() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    for device in ("npu:0", "npu:1"):
        y = x.to(device)
        assert str(y.device) == device
        assert torch.equal(y.cpu(), x)
        assert torch.npu.current_device() == 0
    z = x.to("npu:0").to("npu:1")
    assert str(z.device) == "npu:1"
    assert torch.equal(z.cpu(), x)
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert not x.is_pinned()
    assert torch.equal(pinned.to("npu:1", non_blocking=True).cpu(), x)
    torch.npu.synchronize()


def too_much_memory() -> list[Any]:
    """The first line of the error, the device's memory, and the device of a tensor that was allocated before."""
    x = torch.empty(1 << 20, device="npu:1")
    try:
        torch.empty(1 << 42, device="npu:1")
    except RuntimeError as error:
        return [str(error).splitlines()[0], torch.npu.mem_get_info(1)[1], str(x.device)]
    raise AssertionError("4 TiB were allocated")


def streams_are_distinct_and_current() -> None:
    streams = [torch.npu.Stream(device=i // 3) for i in range(6)]
    defaults = [torch.npu.current_stream(i).npu_stream for i in (0, 1)]
    handles = {*defaults, *(stream.npu_stream for stream in streams)}
    assert len(handles) == 8
    assert 0 not in handles
    for i, stream in enumerate(streams):
        with torch.npu.stream(stream):
            assert torch.npu.current_device() == i // 3
            assert torch.npu.current_stream().npu_stream == stream.npu_stream
        assert torch.npu.current_stream(i // 3).npu_stream == defaults[i // 3]
    event = torch.npu.Event()
    event.record(streams[0])
    streams[1].wait_event(event)
    assert event.query()
    assert streams[1].query()
    streams[1].synchronize()


def stream_of_two_threads() -> list[bool]:
    """Whether each thread sees its own stream while the other has one, and the main thread its default one."""
    seen: list[bool] = []
    barrier = threading.Barrier(2)

    def work() -> None:
        torch.npu.set_device(0)
        stream = torch.npu.Stream(device=0)
        with torch.npu.stream(stream):
            barrier.wait()
            seen.append(torch.npu.current_stream(0).npu_stream == stream.npu_stream)
            barrier.wait()

    default = torch.npu.current_stream(0).npu_stream
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [*seen, torch.npu.current_stream(0).npu_stream == default]


def recorded_calls() -> dict[str, Any]:
    """The calls of the simulated CANN that a host tensor, an allocation and a copy make."""
    y = torch.zeros(1, device="npu:0")
    torch.npu.synchronize(0)
    with recorder.held(lambda: y.add_(y)):  # the queue's thread makes no call now
        recorder.reset()
        torch.empty(4, 4)[1:]
        host = recorder.calls()
    x = torch.empty(1 << 22, device="npu:0")
    allocation = recorder.calls()
    recorder.reset()
    x.copy_(torch.empty(1 << 22, device="npu:0"))
    torch.npu.synchronize()
    return {
        "simulated": recorder.simulated(),
        "host": host,
        "allocation": allocation,
        "copy": recorder.calls(),
    }


STREAM_GETTERS: dict[str, Callable[[], int | None]] = {
    "npu_stream": lambda: torch.npu.current_stream().npu_stream,
    "stream()": npu1_stream,
    "stream(true)": lambda: npu1_stream(True),
    "stream(false)": lambda: npu1_stream(False),
}


def getters_that_wait(operator: str, expected: dict[str, bool]) -> dict[str, bool]:
    """Which ways to get the current stream wait for an operator that is queued."""
    x, y = idle_tensor(), idle_tensor()
    torch.npu.set_device(1)
    waits = {}
    for name, get in STREAM_GETTERS.items():
        handles: list[int | None] = []

        def call(get: Callable[[], int | None] = get, handles: list[int | None] = handles) -> None:
            handles.append(get())

        waits[name] = recorder.waits_for_queue(lambda: OPERATORS[operator](x, y), call, expected=expected[name])
        torch.npu.synchronize()
        assert handles == [npu1_stream()]
    return waits


def waits_for_the_queue_of(current_device: int, expected: bool) -> bool:
    """Whether the stream of npu:1 waits for an operator queued for npu:1 while another device is current."""
    x = idle_tensor()
    torch.npu.set_device(current_device)
    waited = recorder.waits_for_queue(lambda: x.add_(x), npu1_stream, expected=expected)
    torch.npu.synchronize(1)
    return waited


def streams_of_a_failed_queue() -> dict[str, Any]:
    """After work has failed: whether `stream(false)` is right, and what `npu_stream` does twice."""
    x = idle_tensor()
    torch.npu.set_device(1)
    stream = npu1_stream()
    recorder.queue_failing_work(lambda: x.add_(x))
    without_waiting = npu1_stream(False) == stream
    waiting: list[Any] = []
    for _ in range(2):
        try:
            waiting.append(torch.npu.current_stream().npu_stream == stream)
        except RuntimeError as error:
            waiting.append(str(error).splitlines())
    return {"without_waiting": without_waiting, "waiting": waiting}


def streams_of_a_queue_that_cannot_be_waited_for() -> dict[str, Any]:
    x = idle_tensor()
    torch.npu.set_device(1)
    stream = npu1_stream()
    with recorder.held(lambda: x.add_(x)), recorder.broken_queue():
        waiting = [npu1_stream(), npu1_stream(True)]
        without_waiting = npu1_stream(False) == stream
    torch.npu.synchronize()
    return {"waiting": waiting, "without_waiting": without_waiting, "afterwards": npu1_stream() == stream}
