"""Our table on ROCm, without a ROCm build: a torch that pretends to be one, and a libc10_hip of the tests.

The tests show that the rocm library is chosen, loads, and passes on the current stream with the names of either
generation of PyTorch's hipify. They need no ROCm build of torch and no AMD hardware, and say nothing about those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulators.rocm import environment
from tests.snippets import attach, rocm
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import HAS_OWN_TABLE, NAME

pytestmark = left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, which stays in use")


def on_rocm(function: Callable[..., Any], generation: int) -> Any:
    return spawn.call(function, env={**environment(generation), "DLX_TORCH_AUTOLOAD": "0"})


@pytest.mark.parametrize("generation", [1, 2])
def test_the_stream_arrives_for_both_device_types(generation: int) -> None:
    seen = on_rocm(rocm.streams_of_both_device_types, generation)
    assert seen["main"] == [0x1110, 0x2220, 0x1110, 0x2220]
    before, after = seen["other"]
    assert before in (None, 0)
    assert (after, seen["main_afterwards"]) == (0x3330, 0x2220)
    assert seen["host"] == [None] * 3
    assert seen["errors"] == ["RuntimeError"] * 4


def test_tensors_of_the_host_go_out_and_come_back() -> None:
    assert on_rocm(rocm.round_trip_on_the_host, 1) == [True, True]


def test_without_libc10_hip_the_library_is_refused_and_torch_imported() -> None:
    provider, reason = spawn.call(attach.provider_and_reason, "rocm", env={"DLX_TORCH_AUTOLOAD": "0"})
    assert provider == "none"
    assert "libc10_hip.so" in reason
