"""The kit with three frameworks in one call: paddle, which has a table of its own, torch, and tvm-ffi's own tensors,
whose type has none. Their memory is on the CPU."""

from __future__ import annotations

import gc
import importlib.util
from typing import Any

import pytest
import torch

from tests.support.kit import kit
from tests.support.left_out import left_out_if
from tests.support.tensors import use_count

pytestmark = [
    pytest.mark.filterwarnings("ignore:No ccache found"),
    left_out_if(not importlib.util.find_spec("paddle"), "paddle is not installed, which a session of its own has"),
]
# Every order, so that each framework is once the first, whose table the call is about.
ORDERS = ["paddle torch tvm_ffi", "torch tvm_ffi paddle", "tvm_ffi paddle torch", "paddle paddle torch"]


def made(framework: str, values: list[float]) -> Any:
    if framework == "paddle":
        import paddle

        return paddle.to_tensor(values, dtype="float32")
    tensor = torch.tensor(values)
    if framework == "torch":
        return tensor
    import tvm_ffi

    return tvm_ffi.from_dlpack(tensor)


def values(tensor: Any) -> Any:
    return torch.from_dlpack(tensor).tolist()


@pytest.mark.parametrize("order", ORDERS)
def test_their_tensors_are_mixed_in_one_call(order: str) -> None:
    x, y, out = (made(framework, [1.0, 2.0, 3.0]) for framework in order.split())
    assert kit().saxpy(2.0, x, y, out=out) is out
    assert values(out) == [3.0, 6.0, 9.0]


@pytest.mark.parametrize("order", ORDERS)
def test_their_sizes_are_compared(order: str) -> None:
    first, second, third = order.split()
    with pytest.raises(ValueError, match="saxpy: argument 3 'y'") as raised:
        kit().saxpy(2.0, made(first, [1.0, 2.0]), made(second, [1.0]), out=made(third, [0.0, 0.0]))
    assert len(str(raised.value).splitlines()) == 1


def test_a_new_tensor_is_of_the_first_tensors_framework() -> None:
    import paddle

    for like, kind in ((paddle.ones([2]), paddle.Tensor), (torch.ones(2), torch.Tensor)):
        new = kit().new(like, 2, 3)
        assert (type(new), list(new.shape)) == (kind, [2, 3])
        new[:] = 7.0
        assert values(new) == [[7.0] * 3] * 2


def test_paddles_table_is_read_and_remembered() -> None:
    import paddle

    kit().forget_tables()
    assert not kit().is_remembered(paddle.Tensor)
    kit().describe(paddle.ones([2]))
    assert kit().is_remembered(paddle.Tensor)
    assert kit().where(paddle.ones([2]), torch.ones(2)) == ("cpu", 0)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [([], "float32"), ([0, 3], "float32"), ([2], "bfloat16"), ([2], "complex64"), ([2], "bool"), ([2, 3], "int64")],
)
def test_what_the_kit_says_of_paddles_tensors_is_what_torch_says(shape: list[int], dtype: str) -> None:
    import paddle

    x = paddle.zeros(shape).astype(dtype)
    assert kit().describe(x)[2:4] == kit().describe(torch.zeros(shape, dtype=getattr(torch, dtype)))[2:4]
    assert kit().describe(x)[0] == tuple(shape)
    assert kit().describe(x)[4] == x.data_ptr()


def test_gaps_between_rows_are_seen() -> None:
    import paddle

    x = paddle.ones([4, 3]).t()
    described = kit().describe(x)
    assert (described[0], described[1]) == ((3, 4), tuple(x.strides))


def test_the_memory_lives_as_long_as_it_is_owned() -> None:
    import paddle

    owned = [kit().own(made(framework, [5.0])) for framework in ("paddle", "torch", "tvm_ffi")]
    gc.collect()
    others = [paddle.to_tensor([6.0]) for _ in range(50)]
    assert [kit().read_owned(one) for one in owned] == [5.0] * 3
    assert len(others) == 50


def test_a_call_keeps_no_tensor() -> None:
    import sys

    x, y, out = made("paddle", [1.0]), torch.ones(1), made("paddle", [0.0])
    before = sys.getrefcount(x), use_count(y), sys.getrefcount(out)
    for _ in range(100):
        kit().saxpy(2.0, x, y, out=out)
    assert (sys.getrefcount(x), use_count(y), sys.getrefcount(out)) == before


@pytest.mark.isolated
def test_a_tensor_of_paddle_without_memory_is_an_error() -> None:
    import paddle

    with pytest.raises((BufferError, RuntimeError, ValueError, TypeError)):
        kit().saxpy(2.0, paddle.base.core.eager.Tensor(), torch.ones(1), out=torch.ones(1))


def test_a_gradient_is_no_obstacle() -> None:
    import paddle

    x = paddle.to_tensor([1.0], stop_gradient=False)
    assert kit().describe(x)[0] == (1,)
