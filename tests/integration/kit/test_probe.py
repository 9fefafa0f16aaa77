"""The kit asked by probes: a stream and an error of each function arrive, on any torch and without a GPU."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import torch
from dlx_torch_ext._dlpack import FUNCTIONS
from dlx_torch_ext.testing import probe

from tests.support.kit import kit
from tests.support.structs import CUDA

pytestmark = pytest.mark.isolated
ALLOCATE, EXPORT, IMPORT, VIEW, STREAM = FUNCTIONS

# What asks each function, and where its errors say that they come from.
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    ALLOCATE: (lambda x: kit().new(x, 2, 3), "new: the output: "),
    EXPORT: (lambda x: kit().own(x), "argument 1: "),
    IMPORT: (lambda x: kit().new(x, 2, 3), ""),
    VIEW: (lambda x: kit().where(x), "where: argument 1 'x': "),
    STREAM: (lambda x: kit().where(x), "where: argument 1 'x': "),
}
each_function = pytest.mark.parametrize("function", FUNCTIONS)


@pytest.mark.parametrize("stream", [0, 0xBEEF0, 2**63])
def test_the_stream_of_the_device_arrives(stream: int) -> None:
    x = probe((4,), device=("cuda", 1), stream=stream)
    assert kit().where(x, torch.ones_like(x), torch.ones(4)) == ("cuda:1", stream)
    assert [call.device for call in x.probe.asked(STREAM)] == [(CUDA, 1)]


def test_no_stream_is_asked_for_host_memory() -> None:
    x = probe((4,), device=("cpu", 0))
    kit().where(x)
    assert x.probe.asked(STREAM) == []


def test_both_names_of_an_npu_are_one_device() -> None:
    x, y = probe((4,), device=("npu", 1), stream=0xBEEF0), probe((4,), device=("ascend", 1))
    assert kit().where(x, y) == ("npu:1", 0xBEEF0)
    with pytest.raises(ValueError, match="argument 2 'y': is on npu:0, but argument 1 'x' is on npu:1"):
        kit().where(x, probe((4,), device=("ascend", 0)))


def test_another_devices_tensor_is_an_error() -> None:
    x, y = probe((4,), device=("cuda", 1)), probe((4,), device=("cuda", 0))
    with pytest.raises(ValueError, match="cuda:0"):
        kit().where(x, y)


@each_function
@pytest.mark.parametrize("kind", [BufferError, ValueError, MemoryError])
def test_an_error_arrives_with_its_reason(function: str, kind: type[Exception]) -> None:
    call, where = CALLS[function]
    x = probe((4,), fail={function: kind("no reason")})
    with pytest.raises(kind) as raised:
        call(x)
    assert str(raised.value) == f"{where}no reason"
    del x.probe.fail[function]
    call(x)


@each_function
def test_a_failure_without_an_error_is_named(function: str) -> None:
    call, _ = CALLS[function]
    with pytest.raises((BufferError, SystemError), match=f"{function} failed and set no exception"):
        call(probe((4,), fail={function: -1}))


@pytest.mark.parametrize("function", [EXPORT, STREAM])
def test_a_function_that_is_null_is_named(function: str) -> None:
    call, _ = CALLS[function]
    with pytest.raises(BufferError, match=f"its table has no function {function}"):
        call(probe((4,), fail={function: None}))


def test_what_the_kit_makes_ends_once() -> None:
    x = probe((4,))
    kept = kit().own(x)
    kit().new(x, 2, 3)
    kit().make_and_drop(x)
    assert len(x.probe.asked("deleter")) == 2
    del kept
    assert len(x.probe.asked("deleter")) == 3


def test_a_table_of_another_version_is_passed_by() -> None:
    x = probe(torch.arange(4.0), device=("cpu", 0), version=(2, 0))
    assert kit().describe(x) == ((4,), (1,), "float32", "cpu", x.data_ptr())
    assert [call.function for call in x.probe.calls] == ["__dlpack_device__", "__dlpack__"]
