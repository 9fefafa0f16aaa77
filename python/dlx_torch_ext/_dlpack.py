"""DLPack's names and structures: the attributes on torch.Tensor, and the C structures for ctypes."""

from __future__ import annotations

import ctypes

VERSION = (1, 3)

# Attributes of torch.Tensor: the capsule of DLPack 1.3, and the integer that consumers looked for before that.
CAPSULE_ATTRIBUTE = "__dlpack_c_exchange_api__"
LEGACY_ATTRIBUTE = "__c_dlpack_exchange_api__"

K_DL_CPU = 1
K_DL_FLOAT = 2


class DLPackVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


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


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
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


# The five functions in the order of the table. Its version and prev_api come before them.
FUNCTIONS = tuple(field[0] for field in DLPackExchangeAPI._fields_[2:])


def attribute_of(tensor_class: object, name: str) -> object:
    """The value of one of these attributes; None if the class lacks it or another package's descriptor raises."""
    try:
        return getattr(tensor_class, name, None)
    except Exception:
        return None


def function_addresses(table: int) -> dict[str, int]:
    """The addresses of the five functions of the table at address `table`; 0 for a function that it lacks, and in a
    table of another major version, whose fields may be others."""
    api = DLPackExchangeAPI.from_address(table)
    known = api.version.major == VERSION[0]
    return {name: getattr(api, name) or 0 if known else 0 for name in FUNCTIONS}
