"""The CUDA devices of a test, real or simulated, and checks that a call leaves them alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from tests.simulators.cuda import recorder


def devices() -> list[int]:
    """The indices of the first two devices. Only for isolated tests, because the question initialises CUDA."""
    count = int(torch.cuda.device_count())
    assert count, "there is no CUDA device, real or simulated: a test of all devices would test nothing"
    return list(range(min(2, count)))


def indices_of_no_device() -> list[int]:
    """Indices that no device has, near the limits of the integer types that carry an index."""
    count = int(torch.cuda.device_count())
    return [-1, -128, -(2**31), count, 127, 128, 256, 1000, 2**31 - 1]


@contextlib.contextmanager
def current_device_stays() -> Iterator[None]:
    for device in devices():
        torch.cuda.set_device(device)
    before = torch.cuda.current_device()
    yield
    assert torch.cuda.current_device() == before, "the call changed the current device"


@contextlib.contextmanager
def no_device_call() -> Iterator[None]:
    """Only for simulated devices: real ones keep no record of calls."""
    recorder.reset()
    yield
    calls: Any = recorder.calls()
    assert not calls, f"device calls: {calls}"
