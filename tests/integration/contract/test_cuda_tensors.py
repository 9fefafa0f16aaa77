"""CUDA tensors in both directions: the right index, no device call by an export, the same current device afterwards."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from tests.simulators.cuda import recorder
from tests.support.devices import current_device_stays, devices, indices_of_no_device, no_device_call
from tests.support.foreign_tensors import ForeignTensor
from tests.support.left_out import left_out_if
from tests.support.structs import CPU, CUDA, CUDA_HOST, CUDA_MANAGED
from tests.support.table import assert_refuses, table_under_test
from tests.support.tensors import use_count
from tests.support.this_torch import BUILT_FOR_CUDA

pytestmark = [pytest.mark.isolated, left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")]
with_a_record = left_out_if(not recorder.simulated(), "real devices keep no record of calls")


def tensor_on(device: int) -> Any:
    return torch.empty(4, 6, device=f"cuda:{device}")


@pytest.mark.parametrize("owning", [False, True], ids=["dltensor", "owning"])
def test_exports_the_index(owning: bool) -> None:
    for device in devices():
        for tensor in (tensor_on(device), tensor_on(device)[1:, ::2], tensor_on(device).t(), tensor_on(device)[0, 0]):
            before = use_count(tensor)
            with current_device_stays():
                made = table_under_test().export(tensor) if owning else table_under_test().dltensor(tensor)
            raw: Any = getattr(made, "tensor", made)
            assert (raw.device.device_type, raw.device.device_id) == (CUDA, device)
            assert (raw.data, raw.byte_offset) == (tensor.data_ptr(), 0)
            assert tuple(raw.strides[: raw.ndim]) == tensor.stride()
            if owning:
                made.delete()
            assert use_count(tensor) == before


@pytest.mark.parametrize("owning", [False, True], ids=["dltensor", "owning"])
def test_refuses_what_is_refused_on_the_host(owning: bool) -> None:
    table = table_under_test()
    complex_tensor = torch.empty(2, device="cuda", dtype=torch.complex64)
    for tensor in (complex_tensor.conj(), torch._efficientzerotensor(3, device="cuda"), torch._neg_view(tensor_on(0))):
        assert_refuses(BufferError, table.export if owning else table.dltensor, tensor)


def test_pinned_memory_is_exported_as_the_hosts() -> None:
    tensor = torch.empty(4).pin_memory()
    raw = table_under_test().dltensor(tensor)
    assert (raw.device.device_type, raw.device.device_id, raw.data) == (CPU, 0, tensor.data_ptr())


@pytest.mark.parametrize("kind", ["cuda", "managed"])
def test_imports_to_the_index(kind: str) -> None:
    for device in devices():
        memory = tensor_on(device)
        index = device if kind == "cuda" else 0  # DLPack: 0 for managed memory
        foreign = ForeignTensor(
            shape=(4, 6), device=(CUDA if kind == "cuda" else CUDA_MANAGED, index), data=memory.data_ptr()
        )
        with current_device_stays():
            tensor = table_under_test().to_torch(foreign.address)
        assert type(tensor) is torch.Tensor
        assert tensor.device == torch.device("cuda", index)
        assert tensor.data_ptr() == memory.data_ptr()
        assert tensor[1:].device == tensor.device
        del tensor
        gc.collect()
        assert foreign.deleted == 1


def test_imports_pinned_memory_as_a_cpu_tensor() -> None:
    memory = torch.arange(6.0).pin_memory()
    tensor = table_under_test().to_torch(
        ForeignTensor(shape=(6,), device=(CUDA_HOST, 0), data=memory.data_ptr()).address
    )
    assert tensor.device.type == "cpu"
    assert tensor.tolist() == memory.tolist()


def test_refuses_to_import_to_no_device() -> None:
    for index in indices_of_no_device():
        foreign = ForeignTensor(device=(CUDA, index))
        assert_refuses(BufferError, table_under_test().to_torch, foreign.address)
        assert foreign.deleted == 0


def test_round_trip_comes_back_to_the_device() -> None:
    for device in devices():
        tensor = tensor_on(device)
        with current_device_stays():
            back = table_under_test().to_torch(table_under_test().export(tensor).release())
        assert (back.device, back.data_ptr()) == (tensor.device, tensor.data_ptr())


@with_a_record
@pytest.mark.parametrize("owning", [False, True], ids=["dltensor", "owning"])
def test_exports_without_a_device_call(owning: bool) -> None:
    table = table_under_test()
    for device in devices():
        tensor, view = tensor_on(device), tensor_on(device)[1:]
        with no_device_call():
            for one in (tensor, view):
                if owning:
                    table.export(one).delete()
                else:
                    table.dltensor(one)


@with_a_record
def test_imports_without_a_device_call() -> None:
    table, device = table_under_test(), devices()[-1]
    foreign = [ForeignTensor(device=(CUDA, device), data=tensor_on(device).data_ptr()) for _ in range(2)]
    table.to_torch(foreign[0].address)  # the first import may count the devices
    with no_device_call():
        tensor = table.to_torch(foreign[1].address)
        del tensor
    assert foreign[1].deleted == 1
