"""Export against torch's own view of the same tensor, for tensors that hypothesis makes.

The examples are the same ones each time. $DLX_TEST_EXAMPLES is the number of them, which are others each time then.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, configuration, given, settings

from tests.support.compiled import scratch
from tests.support.structs import CPU
from tests.support.table import assert_refuses, table_under_test
from tests.support.tensors import DTYPES, use_count
from tests.support.views import seen_by_torch, tensors

pytestmark = pytest.mark.isolated

configuration.set_hypothesis_home_dir(str(scratch() / "hypothesis"))
EXAMPLES = os.environ.get("DLX_TEST_EXAMPLES")
many = settings(
    max_examples=int(EXAMPLES or 150),
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)


def assert_described(raw: Any, shape: Any, strides: Any, expected: Any) -> None:
    assert (raw.device.device_type, raw.device.device_id, raw.byte_offset) == (CPU, 0, 0)
    assert (raw.dtype.code, raw.dtype.bits, raw.dtype.lanes) == DTYPES[expected.dtype]
    assert (shape, strides) == (expected.shape, expected.strides)
    assert (raw.data or 0) == expected.address


@many
@given(tensors())
def test_describes_what_torch_describes_or_refuses(tensor: Any) -> None:
    table, expected = table_under_test(), seen_by_torch(tensor)
    if expected is None:
        assert_refuses(BufferError, table.dltensor, tensor)
        assert_refuses(BufferError, table.export, tensor)
        return
    raw = table.dltensor(tensor)
    expected = seen_by_torch(tensor)  # a copy-on-write tensor has memory of its own from now on
    assert expected is not None
    assert_described(raw, tuple(raw.shape[: raw.ndim]), tuple(raw.strides[: raw.ndim]), expected)
    made = table.export(tensor)
    assert_described(made.tensor, made.shape, made.strides, expected)
    made.delete()


@many
@given(tensors())
def test_comes_back_as_it_was_and_leaves_no_reference(tensor: Any) -> None:
    table = table_under_test()
    if seen_by_torch(tensor) is None:
        return
    table.dltensor(tensor)
    before, expected = use_count(tensor), seen_by_torch(tensor)
    assert expected is not None
    back = table.to_torch(table.export(tensor).release())
    assert seen_by_torch(back) == expected
    if expected.address:
        ctypes.string_at(expected.address, tensor.element_size())
    del back
    table.export(tensor).delete()  # frees what the deleter had to leave
    assert use_count(tensor) == before
