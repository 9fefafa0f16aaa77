"""Arguments without a table, through __dlpack__: what it is asked, and what is done with each answer."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.kit import kit

pytestmark = pytest.mark.isolated
VERSIONED = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 1)


class Producer:
    """Records what its __dlpack__ is asked, and answers with an array's capsule or with `answer`."""

    def __init__(self, answer: Any = None, device: Any = (1, 0), older: bool = False) -> None:
        self.array = np.arange(3, dtype=np.float32)
        self.answer, self.device, self.older = answer, device, older
        self.asked: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> Any:
        return self.device

    def __dlpack__(self, **keywords: Any) -> Any:
        self.asked.append(keywords)
        if self.older and "max_version" in keywords:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__() if self.answer is None else self.answer


def test_numpy_arrays_are_tensors_too() -> None:
    x = np.arange(4, dtype=np.float32)
    assert kit().describe(x)[4] == x.ctypes.data
    assert kit().saxpy(2.0, x, torch.ones(4), x) is x
    assert x.tolist() == [1.0, 3.0, 5.0, 7.0]


def test_what_is_asked_of_host_memory() -> None:
    producer = Producer()
    kit().describe(producer)
    assert producer.asked == [{"max_version": (1, 3), "copy": False}]


def test_an_older_method_is_asked_again_without_the_newer_words() -> None:
    producer = Producer(older=True)
    assert kit().describe(producer)[0] == (3,)
    assert producer.asked == [{"max_version": (1, 3), "copy": False}, {}]


# On CUDA 1 is the default stream and 0 is not allowed, on ROCm 0 is the default stream; the standard names no other.
@pytest.mark.parametrize(("device", "stream"), [((2, 0), 1), ((13, 0), 1), ((10, 1), 0), ((8, 0), None)])
def test_the_default_stream_in_the_words_of_each_device(device: tuple[int, int], stream: int | None) -> None:
    producer = Producer(answer="no capsule", device=device)
    with pytest.raises(TypeError, match="__dlpack__"):
        kit().describe(producer)
    assert producer.asked[0].get("stream") == stream


def test_read_only_memory_is_refused_where_it_may_be_written() -> None:
    array = np.ones(3, dtype=np.float32)
    array.flags.writeable = False
    if VERSIONED:
        assert kit().describe(array)[0] == (3,)
    with pytest.raises(BufferError) as raised:
        kit().saxpy(1.0, torch.ones(3), array)
    assert str(raised.value).startswith("saxpy: argument 3 'y': ")
    assert "readonly" in str(raised.value) or "is read-only, and may be written here" in str(raised.value)


WRONG: list[tuple[Any, Any, type[Exception], str]] = [
    ("text", (1, 0), TypeError, "__dlpack__() gave 'text'; a capsule 'dltensor_versioned' or 'dltensor' is needed"),
    (None, "cpu", TypeError, "__dlpack_device__() gave 'cpu'; a device type and an index are needed"),
    (None, (1,), TypeError, "__dlpack_device__() must give a device type and an index"),
    (None, ("cpu", 0), TypeError, "'str' object cannot be interpreted as an integer"),
    (None, (4, 0), BufferError, "__dlpack__() gave memory of another device than __dlpack_device__() says"),
]


@pytest.mark.parametrize(("answer", "device", "kind", "text"), WRONG)
def test_a_wrong_answer_is_named(answer: Any, device: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        kit().saxpy(1.0, Producer(answer, device), torch.ones(3))
    assert str(raised.value) == f"saxpy: argument 2 'x': {text}"


class Refusal(Exception):
    """An error of somebody else's kind."""


@pytest.mark.parametrize("method", ["__dlpack__", "__dlpack_device__"])
def test_an_error_of_the_producer_keeps_its_reason(method: str) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Refusal("not today\nand a second line")

    kind = type("Refuses", (Producer,), {method: refuse})
    with pytest.raises(BufferError) as raised:
        kit().describe(kind())
    assert str(raised.value) == "argument 1: Refusal: not today"
    assert isinstance(raised.value.__cause__, Refusal)


def test_an_interrupt_passes_as_it_is() -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kit().describe(type("Interrupts", (Producer,), {"__dlpack_device__": interrupt})())


def test_a_capsule_is_let_go_when_the_call_ends() -> None:
    producer = Producer()
    array = producer.array
    references = sys.getrefcount(array)
    for _ in range(3):
        kit().describe(producer)
        with pytest.raises(TypeError):
            kit().saxpy(1.0, producer, "no tensor")
    assert sys.getrefcount(array) == references


def test_a_tensor_of_its_own_device_only_is_not_copied() -> None:
    tensor = torch.arange(3.0)
    assert kit().describe(tensor)[4] == tensor.data_ptr()
