"""The current stream of device types that have no streams, and of those that this build does not know."""

from __future__ import annotations

import ctypes

import pytest

from tests.support.left_out import cases
from tests.support.structs import (
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    EXT_DEV,
    HEXAGON,
    MAIA,
    METAL,
    ONE_API,
    OPENCL,
    ROCM,
    ROCM_HOST,
    TRN,
    VPI,
    VULKAN,
    WEB_GPU,
)
from tests.support.table import UNTOUCHED, assert_refuses, table_under_test
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = pytest.mark.isolated


@pytest.mark.parametrize("device", [CPU, CUDA_HOST, ROCM_HOST, METAL])
def test_is_null_where_there_are_no_streams(device: int) -> None:
    assert table_under_test().stream(device, 0) is None


UNKNOWN_DEVICES = {
    "none": 0,
    "minus_one": -1,
    "opencl": OPENCL,
    "vulkan": VULKAN,
    "vpi": VPI,
    "rocm": ROCM,
    "ext_dev": EXT_DEV,
    "one_api": ONE_API,
    "web_gpu": WEB_GPU,
    "hexagon": HEXAGON,
    "maia": MAIA,
    "trn": TRN,
    "number_99": 99,
    "largest": 2**31 - 1,
    "cuda": CUDA,
    "cuda_managed": CUDA_MANAGED,
}
LEFT_OUT = dict.fromkeys(["cuda", "cuda_managed"], (BUILT_FOR_CUDA, "torch is built for CUDA"))


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("name", cases(UNKNOWN_DEVICES, LEFT_OUT))
def test_is_an_error_where_this_build_cannot_know(name: str, index: int) -> None:
    """The consumer would take NULL for the default stream, and kernels would race without any sign of it."""
    table = table_under_test()
    assert_refuses(RuntimeError, lambda: table.stream(UNKNOWN_DEVICES[name], index))
    _, out = table.try_stream(UNKNOWN_DEVICES[name], index)
    assert out == UNTOUCHED


def test_an_error_without_the_gil_is_set_and_the_gil_is_given_back() -> None:
    """ctypes releases the GIL for this call, and takes it again afterwards: it would wait for ever."""
    function = table_under_test().raw.current_work_stream
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)(function)
    out = ctypes.c_void_p()
    # ctypes returns what the function has returned; the interpreter sees that an exception is set.
    with pytest.raises(SystemError) as raised:
        call(VULKAN, 0, ctypes.addressof(out))
    assert isinstance(raised.value.__cause__, RuntimeError)
    assert table_under_test().stream(CPU, 0) is None
