"""torch on the simulated CUDA, in a process that was started with it."""

from __future__ import annotations

import torch

from tests.simulators.cuda import recorder


def devices() -> dict[str, object]:
    properties = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
    return {
        "available": torch.cuda.is_available(),
        "properties": [[it.name, it.major, it.minor, it.total_memory] for it in properties],
    }


def available_and_count() -> list[object]:
    return [torch.cuda.is_available(), torch.cuda.device_count()]


def copies_keep_the_values() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    for device in ("cuda:0", "cuda:1"):
        assert str(torch.empty(2, device=device).device) == device
        assert torch.equal(x.to(device).cpu(), x)
    y = x.to("cuda:0").to("cuda:1")
    assert y.data_ptr() != x.data_ptr()
    assert torch.equal(y.cpu(), x)
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned[1:].is_pinned()
    assert not x.is_pinned()
    assert torch.equal(pinned.to("cuda:1", non_blocking=True).cpu(), x)
    torch.cuda.synchronize()


def streams_are_distinct_and_current() -> None:
    streams = [torch.cuda.Stream(device=i // 3, priority=-(i % 3)) for i in range(6)]
    handles = {stream.cuda_stream for stream in streams}
    assert len(handles) == 6
    assert 0 not in handles
    for stream in streams:
        with torch.cuda.stream(stream):
            assert torch.cuda.current_device() == stream.device_index
            assert torch.cuda.current_stream().cuda_stream == stream.cuda_stream
        assert torch.cuda.current_stream(stream.device_index).cuda_stream == 0
    event = torch.cuda.Event()
    event.record(streams[0])
    streams[1].wait_event(event)
    assert event.query()
    assert streams[1].query()


def errors_of_torch() -> list[str]:
    """The first lines of two errors: too much memory, and a device that does not exist."""
    errors = []
    for size, device in ((1 << 42, "cuda:1"), (1, "cuda:7")):
        try:
            torch.empty(size, device=device)
        except RuntimeError as error:
            errors.append(f"{type(error).__name__}: {error}".splitlines()[0])
    torch.empty(1, device="cuda:1")  # neither error stays
    return errors


def recorded_calls() -> dict[str, object]:
    """The calls of the simulated CUDA that a host tensor, an allocation and a kernel make."""
    torch.empty(1, device="cuda:0")
    recorder.reset()
    torch.empty(4, 4)[1:]
    host = recorder.calls()
    torch.empty(1 << 22, device="cuda:0")
    allocation = recorder.calls()
    recorder.reset()
    torch.empty(4, device="cuda:0").fill_(1.0)
    return {
        "simulated": recorder.simulated(),
        "host": host,
        "allocation": allocation,
        "kernel": recorder.calls(),
    }


def round_trip_through_tvm_ffi() -> list[object]:
    """The devices of the tensor there and back, and whether tvm-ffi sees torch's stream."""
    import tvm_ffi

    x = torch.arange(12.0).reshape(3, 4).cuda(1)
    stream = torch.cuda.Stream(1)
    with torch.cuda.device(1):
        y = tvm_ffi.from_dlpack(x)
    with tvm_ffi.use_torch_stream(torch.cuda.stream(stream)):
        seen = tvm_ffi.get_raw_stream(tvm_ffi.device("cuda", 1))
    back = torch.from_dlpack(y)
    assert back.data_ptr() == x.data_ptr()
    return [str(y.device), str(back.device), seen == stream.cuda_stream]
