"""Tensors go out and come back, and the table allocates where torch would."""

from __future__ import annotations

from typing import Any

from .device import SIZE, Device
from .outcome import Failed, LeftOut, expect
from .tables import Table


def round_trip(device: Device, table: Table) -> None:
    """The same memory, described rightly, also of a view."""
    device.clear()
    device.copy_by_torch()
    device.module.synchronize(device.index)
    tensor = device.between
    for view in (tensor, tensor.view(SIZE // 64, 64)[8:].t()):
        managed = table.export(view)
        out = managed.dl_tensor
        expect("the device of an export", (out.device.device_type, out.device.device_id), _place(device))
        expect("the address of an export", (out.data or 0) + out.byte_offset, view.data_ptr())
        back = table.to_torch(managed)
        expect("an imported tensor", _described(back), _described(view))
    expect("the data of an imported tensor", device.data_of(table.to_torch(table.export(tensor))), "all")


def allocation(device: Device, table: Table) -> None:
    """On the device that was asked for, whichever is current."""
    for current in (device, *device.others[:1]):
        with device.module.device(current.index):
            made = _allocated(device, table)
            expect("the current device after an allocation", device.module.current_device(), current.index)
        made.copy_(device.source)
        expect("the data in an allocated tensor", device.data_of(made), "all")


def pool(device: Device, table: Table) -> None:
    """Out of the memory pool that is in use."""
    module = device.module
    if not hasattr(module, "MemPool"):
        raise LeftOut("this torch has no MemPool")
    with module.device(device.index):
        used = module.MemPool()
        with module.use_mem_pool(used):
            made = _allocated(device, table)
        segments = [one for one in module.memory_snapshot() if tuple(one["segment_pool_id"]) == tuple(used.id)]
        inside = [one for one in segments if 0 <= made.data_ptr() - one["address"] < one["total_size"]]
        del made
    if not inside:
        raise Failed("what the table allocated within a MemPool is not in that pool")


def private_format(device: Device, table: Table) -> None:
    """A tensor in a layout that only the NPU knows has no strides to describe it by."""
    if device.runtime.module != "npu":
        raise LeftOut("only NPUs have private formats")
    import torch_npu

    nz = 29
    tensor = torch_npu.empty_with_format((32, 32), dtype=device.torch.float16, device=device.name, acl_format=nz)
    if torch_npu.get_npu_format(tensor) != nz:
        raise LeftOut("this NPU gives the tensor no private format")
    try:
        managed = table.export(tensor)
    except BufferError:
        return
    table.delete(managed)
    raise Failed("a tensor of the private format NZ was exported as if it was contiguous, expected BufferError")


def _allocated(device: Device, table: Table) -> Any:
    managed = table.allocate(*_place(device), SIZE)
    made = table.to_torch(managed)
    expect("the device of an allocated tensor", str(made.device), device.name)
    expect("an allocated tensor", (tuple(made.shape), made.dtype), ((SIZE,), device.torch.uint8))
    return made


def _place(device: Device) -> tuple[int, int]:
    return device.runtime.dl_device, device.index


def _described(tensor: Any) -> tuple[object, ...]:
    return str(tensor.device), tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.data_ptr()
