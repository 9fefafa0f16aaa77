"""Managed tensors of another library: memory, the structure around it, a count of deleter runs. Also prototypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from tests.support.structs import CPU, DELETER, DLManagedTensorVersioned, DLTensor

FLOAT32 = (2, 32, 1)

# Never freed: C code may call or read it until the process ends.
_kept: list[Any] = []


def c_array(values: Sequence[int] | None) -> Any:
    """A pointer to a C array of int64, for `shape` or `strides`; NULL for None."""
    if values is None:
        return None
    array = (ctypes.c_int64 * max(1, len(values)))(*values)
    _kept.append(array)
    return ctypes.cast(array, ctypes.POINTER(ctypes.c_int64))


def describe(
    out: DLTensor,
    shape: Sequence[int] | None,
    strides: Sequence[int] | None,
    dtype: tuple[int, int, int],
    device: tuple[int, int],
    ndim: int | None,
) -> None:
    """Fills all fields but those of the memory. `ndim` is the length of `shape`, unless a test wants a wrong one."""
    out.ndim = len(shape or ()) if ndim is None else ndim
    out.shape, out.strides = c_array(shape), c_array(strides)
    out.dtype.code, out.dtype.bits, out.dtype.lanes = dtype
    out.device.device_type, out.device.device_id = device


def prototype(
    shape: Sequence[int] | None,
    strides: Sequence[int] | None = None,
    dtype: tuple[int, int, int] = FLOAT32,
    device: tuple[int, int] = (CPU, 0),
    ndim: int | None = None,
) -> DLTensor:
    """Describes the tensor that an allocator is asked for. It has no memory."""
    out = DLTensor()
    describe(out, shape, strides, dtype, device, ndim)
    return out


class ForeignTensor:
    """A managed tensor. By default `data` is the address of the floats 0 to 63. `deleted` counts the deleter's runs."""

    def __init__(
        self,
        shape: Sequence[int] | None = (2, 3),
        strides: Sequence[int] | None = None,
        dtype: tuple[int, int, int] = FLOAT32,
        device: tuple[int, int] = (CPU, 0),
        ndim: int | None = None,
        data: int | None = -1,
        byte_offset: int = 0,
        version: tuple[int, int] = (1, 3),
        flags: int = 0,
        deleter: bool = True,
    ) -> None:
        self.memory = (ctypes.c_float * 64)(*range(64))
        self.raw = DLManagedTensorVersioned()
        self.deleted = 0
        self.tensor: Any = self.raw.dl_tensor
        describe(self.tensor, shape, strides, dtype, device, ndim)
        self.tensor.data = ctypes.addressof(self.memory) if data == -1 else data
        self.tensor.byte_offset = byte_offset
        self.raw.version.major, self.raw.version.minor = version
        self.raw.flags = flags
        self._deleter = DELETER(self._delete)
        self.raw.deleter = ctypes.cast(self._deleter, ctypes.c_void_p) if deleter else None
        _kept.append(self)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.raw)

    def _delete(self, address: int) -> None:
        assert address == self.address
        self.deleted += 1
