"""The CUDA devices of a test, real or simulated, and a watch over what a call does to them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from tests.simulators.cuda import recorder


def devices() -> list[int]:
    """Two indices where there are two. Asked in the test's own process: asking initialises CUDA."""
    return list(range(min(2, torch.cuda.device_count())))


def outside() -> list[int]:
    """Indices of no device, about the edges of the number types that carry them."""
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
    """On simulated devices only: real ones keep no record."""
    recorder.reset()
    yield
    calls: Any = recorder.calls()
    assert not calls, f"device calls: {calls}"
