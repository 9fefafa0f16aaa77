"""Our table on torch_npu with two simulated devices. Functions for a fork in which torch_npu is imported already."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

import dlx_torch_ext
import torch

from tests.simulators.ascend import recorder
from tests.snippets.simulated_ascend import idle_tensor
from tests.support.consumer import consumer
from tests.support.foreign_tensors import ForeignTensor, prototype
from tests.support.structs import ASCEND, CPU, EXT_DEV, DLPackExchangeAPI
from tests.support.table import AllocatorError, Table, capsule_address


def attached_table() -> Table:
    dlx_torch_ext.attach()
    return Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))


def streams_of_table(name: int = EXT_DEV) -> list[int | None]:
    """The current stream of each device, which is asked for by that name, by our table."""
    table = attached_table()
    return [table.stream(name, index) for index in (0, 1)]


def streams_of_torch_npu() -> list[int]:
    return [torch.npu.current_stream(index).npu_stream for index in (0, 1)]


def error_of(call: Callable[[], Any]) -> list[str]:
    """The kind and the text of the exception that the call raises."""
    try:
        call()
    except AllocatorError as error:
        return [error.kind, str(error)]
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["nothing", ""]


def npu_format(tensor: Any) -> int:
    """torch_npu's number for the layout of the memory, which it keeps with the storage."""
    import torch_npu

    return int(torch_npu.get_npu_format(tensor))


def provider_backend_and_reason() -> list[str | None]:
    status = dlx_torch_ext.attach()
    return [status.provider, status.backend, status.reason]


def streams_inside_and_outside() -> dict[str, bool | int]:
    """Whether the table's streams are right by default, within a stream of npu:0, and within one of each device."""
    default = streams_of_table()
    first, second = torch.npu.Stream("npu:0"), torch.npu.Stream("npu:1")
    with torch.npu.stream(first):
        within_first = streams_of_table()
        with torch.npu.stream(second):
            within_both = streams_of_table()
    return {
        "default": default == streams_of_torch_npu() == streams_of_table() and None not in default,
        "within_first": within_first == [first.npu_stream, default[1]],
        "within_both": within_both == [first.npu_stream, second.npu_stream],
        "current_device": torch.npu.current_device(),
    }


def streams_by_both_names() -> list[bool]:
    """Whether each name gets the streams that torch_npu has, outside and inside of a stream."""
    both = (EXT_DEV, ASCEND)
    outside = [streams_of_table(name) == streams_of_torch_npu() for name in both]
    with torch.npu.stream(torch.npu.Stream("npu:1")):
        return [*outside, *(streams_of_table(name) == streams_of_torch_npu() for name in both)]


def stream_of_two_threads() -> list[bool]:
    """Whether each thread gets its own stream while the other has one, and the main thread its default one."""
    barrier = threading.Barrier(2)
    right: list[bool] = []

    def work() -> None:
        stream = torch.npu.Stream("npu:1")
        with torch.npu.stream(stream):
            barrier.wait()
            right.append(streams_of_table()[1] == stream.npu_stream)
            barrier.wait()

    default = streams_of_table()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [*right, streams_of_table() == default]


def stream_of_the_host_and_errors() -> list[Any]:
    table = attached_table()
    errors = [error_of(functools.partial(table.stream, EXT_DEV, index)) for index in (-1, 2, 127, 128, 1000)]
    return [table.stream(CPU, 0), *errors]


def stream_waits_for_the_queue(current_device: int, expected: bool) -> list[Any]:
    """Whether the stream of npu:1 waits for an operator queued there, and the current device afterwards."""
    x, table = idle_tensor(), attached_table()
    table.stream(EXT_DEV, 1)
    torch.npu.set_device(current_device)
    waited = recorder.waits_for_queue(lambda: x.add_(x), lambda: table.stream(EXT_DEV, 1), expected=expected)
    seen = [waited, torch.npu.current_device()]
    torch.npu.synchronize(1)
    return seen


def stream_of_a_queue_that_cannot_be_waited_for() -> list[str]:
    x, table = idle_tensor(), attached_table()
    torch.npu.set_device(1)
    with recorder.held(lambda: x.add_(x)), recorder.broken_queue():
        return error_of(lambda: table.stream(EXT_DEV, 1))


def stream_of_a_failed_queue() -> list[str]:
    x, table = idle_tensor(), attached_table()
    torch.npu.set_device(1)
    recorder.queue_failing_work(lambda: x.add_(x))
    return error_of(lambda: table.stream(EXT_DEV, 1))


def round_trip(renamed: int | None = None) -> dict[str, Any]:
    """A transposed tensor as the table exports it, and as it comes back. `renamed`: the name of its device that a
    consumer has written there meanwhile."""
    table = attached_table()
    x = torch.empty(3, 4, dtype=torch.float16, device="npu:1").t()
    made = table.export(x)
    borrowed = table.dltensor(x).device
    assert (borrowed.device_type, borrowed.device_id) == (made.tensor.device.device_type, made.tensor.device.device_id)
    exported = {
        "device": [made.tensor.device.device_type, made.tensor.device.device_id],
        "shape": made.shape,
        "strides": made.strides,
        "same_address": made.tensor.data == x.data_ptr(),
    }
    if renamed is not None:
        made.tensor.device.device_type = renamed
    back = table.to_torch(made.release())
    copy = torch.empty_like(back)
    copy.copy_(back)  # reads torch_npu's description of the storage
    torch.npu.synchronize()
    return {
        "exported": exported,
        "device": str(back.device),
        "shape": list(back.shape),
        "strides": list(back.stride()),
        "same_address": back.data_ptr() == x.data_ptr(),
        "format": npu_format(back),
        "is_a_tensor": type(back) is torch.Tensor,
    }


def round_trips(renamed: list[int | None]) -> list[dict[str, Any]]:
    import torch_npu  # noqa: F401  where torch does not do it

    return [round_trip(name) for name in renamed]


def import_memory_of_another_library(name: int) -> dict[str, Any]:
    table = attached_table()
    x = torch.empty(64, device="npu:1")
    foreign = ForeignTensor((2, 3), (3, 1), device=(name, 1), data=x.data_ptr(), byte_offset=8)
    back = table.to_torch(foreign.address)
    view = back[1:]
    seen = {
        "device": str(back.device),
        "offset": back.data_ptr() - x.data_ptr(),
        "shape": list(back.shape),
        "has_the_usual_format": npu_format(back) == npu_format(torch.empty(2, 3, device="npu:1")),
    }
    back.clone()
    torch.npu.synchronize()
    del back
    seen["deleted_with_a_view_left"] = foreign.deleted
    del view
    return {**seen, "deleted_at_last": foreign.deleted, "current_device": torch.npu.current_device()}


def import_refused(described: dict[str, Any]) -> list[Any]:
    """Kind and text of the error, and how often the deleter ran. `described` changes a tensor that is all right."""
    table = attached_table()
    foreign = ForeignTensor(**{"shape": (2, 3), "device": (EXT_DEV, 1), **described})
    return [*error_of(lambda: table.to_torch(foreign.address)), foreign.deleted]


def allocate_on_each_device(name: int) -> list[dict[str, Any]]:
    table, seen = attached_table(), []
    for index in (0, 1):
        before = torch.npu.memory_allocated(index)
        made = table.allocate(prototype((3, 4), device=(name, index)))
        assert made.tensor.device.device_type == name
        grown = torch.npu.memory_allocated(index) > before
        back = table.to_torch(made.release())
        found = {
            "device": str(back.device),
            "grown": grown,
            "shape": list(back.shape),
            "current_device": torch.npu.current_device(),
        }
        del back
        seen.append({**found, "freed": torch.npu.memory_allocated(index) == before})
    return seen


def export_a_private_layout() -> list[str]:
    import torch_npu

    x = torch_npu.empty_with_format((32, 32), dtype=torch.float16, device="npu:1", acl_format=29)
    assert npu_format(x) == 29
    table = attached_table()
    return error_of(lambda: table.export(x))


def streams_of_forked_children(used: bool) -> list[list[str]]:
    """What a child of os.fork and one of multiprocessing get when they ask for a stream, and then the parent."""
    import multiprocessing

    from tests.support.process import fork

    table = attached_table()
    if used:
        torch.empty(1, device="npu:0")

    def ask() -> list[str]:
        return error_of(lambda: table.stream(EXT_DEV, 0))

    answers = multiprocessing.get_context("fork").SimpleQueue()
    child = multiprocessing.get_context("fork").Process(target=lambda: answers.put(ask()))
    child.start()
    child.join()
    return [fork.call(ask), answers.get(), ask()]


def export_has_the_address(dims: int) -> bool:
    x = torch.empty(*([2] * dims), device="npu:0")
    return bool(attached_table().dltensor(x).data == x.data_ptr())


def torchs_table_before_and_after() -> dict[str, Any]:
    """How the functions of our table and torch's compare, and whether torch's is back unchanged after `detach()`."""
    dlx_torch_ext.detach()
    address = capsule_address(torch.Tensor.__dlpack_c_exchange_api__)
    size = ctypes.sizeof(Table(address).raw)
    before = ctypes.string_at(address, size)
    ours, torchs = attached_table().raw, Table(address).raw
    functions = [field[0] for field in DLPackExchangeAPI._fields_[2:]]
    same = [name for name in functions if getattr(ours, name) == getattr(torchs, name)]
    dlx_torch_ext.detach()
    return {
        "same": same,
        "replaced": [name for name in functions if name not in same],
        "back": capsule_address(torch.Tensor.__dlpack_c_exchange_api__) == address,
        "unchanged": ctypes.string_at(address, size) == before,
    }


def streams_seen_through_tvm_ffi() -> list[bool]:
    """Whether a function called through tvm-ffi sees the right stream outside and inside of one."""
    dlx_torch_ext.attach()
    stream = torch.npu.Stream("npu:1")
    x = torch.empty(4, device="npu:1")
    outside = consumer()["stream_for"](x) == torch.npu.current_stream(1).npu_stream
    with torch.npu.stream(stream):
        return [outside, consumer()["stream_for"](x) == stream.npu_stream]
