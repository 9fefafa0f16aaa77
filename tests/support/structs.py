"""DLPack 1.3's C structures in ctypes, field for field as dlpack.h declares them."""

from __future__ import annotations

import ctypes
from typing import Any

CPU, CUDA, CUDA_HOST, OPENCL, VULKAN, METAL, VPI, ROCM, ROCM_HOST = 1, 2, 3, 4, 7, 8, 9, 10, 11
EXT_DEV, CUDA_MANAGED, ONE_API, WEB_GPU, HEXAGON, MAIA, TRN = 12, 13, 14, 15, 16, 17, 18
TPU, TPU_HOST, ASCEND = 19, 20, 21  # on the main branch of dmlc/dlpack

READ_ONLY, PADDED = 1, 4  # DLPACK_FLAG_BITMASK_READ_ONLY, ..._IS_SUBBYTE_TYPE_PADDED

CAPSULE_NAME = b"dlpack_exchange_api"


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLPackVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLManagedTensorVersioned(ctypes.Structure):
    pass


# The deleter is an address here: ctypes would make a Python object of a field with a function type at each access.
DLManagedTensorVersioned._fields_ = [
    ("version", DLPackVersion),
    ("manager_ctx", ctypes.c_void_p),
    ("deleter", ctypes.c_void_p),
    ("flags", ctypes.c_uint64),
    ("dl_tensor", DLTensor),
]


class DLPackExchangeAPI(ctypes.Structure):
    _fields_ = [
        ("version", DLPackVersion),
        ("prev_api", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p),
        ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


# CFUNCTYPE releases the GIL around the call: a deleter or an allocator may be called without it.
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATOR = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p
)


def read_int64s(pointer: Any, ndim: int) -> tuple[int, ...] | None:
    """The numbers of a `shape` or `strides` field; None for a NULL pointer."""
    return tuple(pointer[:ndim]) if pointer else None
