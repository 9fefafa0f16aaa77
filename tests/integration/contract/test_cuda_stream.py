"""The current stream on CUDA: the calling thread's, on the device asked for, at this moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from tests.simulators.cuda import recorder
from tests.support.devices import current_device_stays, devices, indices_of_no_device, no_device_call
from tests.support.left_out import left_out_if
from tests.support.structs import CUDA, CUDA_MANAGED
from tests.support.table import UNTOUCHED, assert_refuses, table_name, table_under_test
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]


def torchs_stream(device: int) -> int | None:
    """torch's current stream. Its default stream is 0: NULL for DLPack."""
    return int(torch.cuda.current_stream(device).cuda_stream) or None


def test_is_the_default_outside_of_any_stream() -> None:
    for device in devices():
        assert table_under_test().stream(CUDA, device) == torchs_stream(device)


def test_is_the_one_of_the_device_asked_for() -> None:
    streams = {device: torch.cuda.Stream(device=device) for device in devices()}
    for inside, stream in streams.items():
        with torch.cuda.stream(stream):
            assert table_under_test().stream(CUDA, inside) == stream.cuda_stream
            for device in devices():
                with current_device_stays():
                    assert table_under_test().stream(CUDA, device) == torchs_stream(device)
        assert table_under_test().stream(CUDA, inside) == torchs_stream(inside) != stream.cuda_stream


def test_is_not_remembered() -> None:
    device = devices()[-1]
    seen = []
    for _ in range(3):
        with torch.cuda.stream(torch.cuda.Stream(device=device)):
            seen.append(table_under_test().stream(CUDA, device))
            assert seen[-1] == torchs_stream(device)
        assert table_under_test().stream(CUDA, device) == torchs_stream(device)
    assert len(set(seen)) == 3


def test_knows_streams_from_outside_torch() -> None:
    for device in devices():
        stream = torch.cuda.Stream(device=device)
        external = torch.cuda.ExternalStream(stream.cuda_stream, device=device)
        with torch.cuda.stream(external):
            assert table_under_test().stream(CUDA, device) == stream.cuda_stream


def test_is_each_threads_own() -> None:
    table, device = table_under_test(), devices()[-1]
    meet = threading.Barrier(2)

    def work(number: int) -> tuple[Any, Any]:
        stream = torch.cuda.Stream(device=device)
        with torch.cuda.stream(stream):
            meet.wait()
            answer = table.stream(CUDA, device)
            meet.wait()
        return answer, stream.cuda_stream

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(work, range(2)))
    assert all(answer == stream for answer, stream in answers)
    assert answers[0] != answers[1]
    assert table.stream(CUDA, device) == torchs_stream(device)


def test_managed_memory_has_the_devices_stream() -> None:
    with torch.cuda.stream(torch.cuda.Stream(device=0)):
        assert table_under_test().stream(CUDA_MANAGED, 0) == torchs_stream(0)


def test_is_an_error_for_no_device() -> None:
    table = table_under_test()
    for index in indices_of_no_device():
        with current_device_stays():
            text = assert_refuses(RuntimeError, table.stream, CUDA, index)
        if table_name() == "dlx":
            count = torch.cuda.device_count()
            seen = f"this torch sees {count} such device{'s' * (count != 1)}, numbered from 0"
            assert text == f"dlx-torch: there is no device kDLCUDA:{index}: {seen}"
        assert table.try_stream(CUDA, index)[1] == UNTOUCHED


@left_out_if(not recorder.simulated(), "real devices keep no record of calls")
def test_makes_no_device_call_after_the_first() -> None:
    table = table_under_test()
    streams = [torch.cuda.Stream(device=device) for device in devices()]
    for device in devices():
        table.stream(CUDA, device)
    for device, stream in enumerate(streams):
        with torch.cuda.stream(stream), no_device_call():
            assert table.stream(CUDA, device) == stream.cuda_stream
