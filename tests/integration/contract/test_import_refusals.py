"""To a tensor: what is refused, with which exception, and that the caller still owns a refused tensor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.foreign_tensors import ForeignTensor
from tests.support.left_out import cases
from tests.support.structs import (
    CUDA,
    CUDA_MANAGED,
    EXT_DEV,
    HEXAGON,
    MAIA,
    METAL,
    ONE_API,
    OPENCL,
    PADDED,
    READ_ONLY,
    ROCM,
    TRN,
    VPI,
    VULKAN,
    WEB_GPU,
)
from tests.support.table import assert_refuses, table_under_test
from tests.support.tensors import DLPACK_NAMES, DTYPES
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = pytest.mark.isolated


def assert_import_refused(kind: type[BaseException], **described: Any) -> None:
    foreign = ForeignTensor(**described)
    before = bytes(foreign.raw)
    assert_refuses(kind, lambda: table_under_test().to_torch(foreign.address))
    assert foreign.deleted == 0, "the deleter ran, although the caller still owns the tensor"
    assert bytes(foreign.raw) == before
    assert foreign.memory[5] == 5.0
    foreign._deleter(foreign.address)
    assert foreign.deleted == 1


@pytest.mark.parametrize("version", [(0, 8), (2, 0), (2**32 - 1, 3)], ids=str)
def test_other_major_versions(version: tuple[int, int]) -> None:
    assert_import_refused(BufferError, version=version)


def test_sub_byte_elements_padded_to_a_byte_each() -> None:
    assert_import_refused(BufferError, dtype=(17, 4, 2), flags=PADDED)


def test_read_only_memory_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_REFUSE_READ_ONLY", "1")
    assert_import_refused(BufferError, flags=READ_ONLY)


def test_read_only_memory_is_taken_otherwise() -> None:
    """torch has no tensors that cannot be written."""
    tensor = table_under_test().to_torch(ForeignTensor(flags=READ_ONLY).address)
    tensor[0, 0] = 7.0
    assert tensor[0, 0].item() == 7.0


UNKNOWN_DTYPES = {
    "opaque_handle": (3, 64, 1),
    "code_18": (18, 8, 1),
    "code_255": (255, 32, 1),
    "lanes_0": (2, 32, 0),
    "lanes_2": (2, 32, 2),
    "lanes_4": (2, 8, 4),
    "lanes_65535": (0, 8, 65535),
    "bits_0": (2, 0, 1),
    "int1": (0, 1, 1),
    "int3": (0, 3, 1),
    "int4": (0, 4, 1),
    "uint4": (1, 4, 1),
    "uint7": (1, 7, 1),
    "int24": (0, 24, 1),
    "int128": (0, 128, 1),
    "uint128": (1, 128, 1),
    "float8": (2, 8, 1),
    "float128": (2, 128, 1),
    "bfloat32": (4, 32, 1),
    "complex16": (5, 16, 1),
    "complex255": (5, 255, 1),
    "bool1": (6, 1, 1),
    "bool32": (6, 32, 1),
    "float8_e3m4": (7, 8, 1),
    "float8_e4m3": (8, 8, 1),
    "float8_e4m3b11fnuz": (9, 8, 1),
    "float8_e4m3fn_of_16_bits": (10, 16, 1),
    "float8_e5m2_with_lanes": (12, 8, 4),
    "float6_e2m3fn": (15, 6, 1),
    "float6_e3m2fn": (16, 6, 1),
    "float4_e2m1fn_unpaired": (17, 4, 1),
    "float4_e2m1fn_by_four": (17, 4, 4),
    "float4_e2m1fn_of_8_bits": (17, 8, 1),
    **{name: value for name, value in DLPACK_NAMES.items() if name not in DTYPES},
}


@pytest.mark.parametrize("name", UNKNOWN_DTYPES)
def test_dtypes_torch_cannot_hold(name: str) -> None:
    assert_import_refused(BufferError, dtype=UNKNOWN_DTYPES[name], shape=(2,))


DEVICES = {
    "none": 0,
    "minus_one": -1,
    "opencl": OPENCL,
    "number_5": 5,
    "vulkan": VULKAN,
    "metal": METAL,
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


@pytest.mark.parametrize("name", cases(DEVICES, LEFT_OUT))
def test_devices_of_other_builds(name: str) -> None:
    assert_import_refused(BufferError, device=(DEVICES[name], 0))


NONSENSE: dict[str, dict[str, Any]] = {
    "ndim_negative": {"ndim": -1},
    "ndim_most_negative": {"ndim": -(2**31)},
    "shape_null": {"shape": None, "ndim": 2},
    "size_negative": {"shape": (2, -3)},
    "size_negative_with_strides": {"shape": (-2, 3), "strides": (3, 1)},
    "size_most_negative": {"shape": (-(2**63),)},
    "two_negative_sizes": {"shape": (-2, -3)},
    "size_negative_beside_zero": {"shape": (0, -3)},
    "stride_negative": {"strides": (-3, 1)},
    "stride_negative_of_size_one": {"shape": (1, 3), "strides": (-3, 1)},
    "stride_negative_of_empty": {"shape": (0, 3), "strides": (-3, 1)},
    "elements_overflow": {"shape": (2**62, 4)},
    "elements_wrap_to_zero": {"shape": (2**32, 2**32)},
    "bytes_overflow": {"shape": (2**61,)},
    "bytes_wrap_to_zero": {"shape": (2**62,)},
    "extent_overflows": {"shape": (2, 2), "strides": (2**62, 2**62)},
    "extent_wraps_to_small": {"shape": (5,), "strides": (2**62,)},
    "extent_in_bytes_overflows": {"shape": (2,), "strides": (2**61,)},
    "data_null": {"data": None},
    "data_null_of_zero_dim": {"shape": (), "data": None},
    "data_null_with_offset": {"data": None, "byte_offset": 8},
    "byte_offset_wraps": {"byte_offset": 2**64 - 4},
    "end_wraps": {"data": 2**64 - 16},
    "end_wraps_behind_the_offset": {"data": 2**64 - 64, "byte_offset": 48},
    "elements_overflow_behind_a_zero": {"shape": (0, 2**62, 4)},
    "elements_become_negative_behind_a_zero": {"shape": (0, 2**62, 2)},
    "elements_overflow_before_a_zero": {"shape": (2**62, 4, 0)},
    "bytes_overflow_beside_a_zero": {"shape": (2**61, 0)},
}


@pytest.mark.parametrize("name", NONSENSE)
def test_descriptions_that_make_no_sense(name: str) -> None:
    assert_import_refused(ValueError, **NONSENSE[name])
