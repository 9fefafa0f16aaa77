"""The installed tvm-ffi: it takes torch's tensors and returns torch's tensors, and its environment is torch's."""

from __future__ import annotations

import gc
import itertools
from importlib.metadata import version
from typing import Any

import dlx_torch_ext
import pytest
import torch
from dlx_torch_ext import _tvm_ffi
from dlx_torch_ext._cli import report

from tests.support.consumer import consumer
from tests.support.devices import current_device_stays, devices
from tests.support.left_out import left_out_if
from tests.support.structs import DLPackExchangeAPI
from tests.support.table import PREFIX, capsule_address
from tests.support.tensors import DESCRIBABLE, DTYPES, use_count, without_warnings
from tests.support.this_torch import BUILT_FOR_CUDA

# Before tvm-ffi is imported: it looks for a table on torch.Tensor then, and compiles one if there is none.
PROVIDER = dlx_torch_ext.attach().provider

TVM_FFI = tuple(int(part) for part in itertools.takewhile(str.isdigit, version("apache-tvm-ffi").split(".")))
ARRAYS_RETURN_TORCHS_TENSORS = (0, 1, 11)  # since this release; before, they return tensors of tvm-ffi

pytestmark = pytest.mark.isolated
on_a_cuda_build = left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")


def ffi() -> Any:
    """tvm-ffi, imported in the fork of the test: its import asks torch for devices, and later forks could use none."""
    import tvm_ffi

    return tvm_ffi


def echo(value: Any) -> Any:
    return ffi().get_global_func("testing.echo")(value)


def test_from_dlpack_shares_the_memory() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    seen = ffi().from_dlpack(tensor)
    assert tuple(seen.shape) == (2, 3)
    back = torch.from_dlpack(seen)
    assert back.data_ptr() == tensor.data_ptr()
    assert back.tolist() == tensor.tolist()


# An uninitialised parameter has no shape, and copy-on-write memory moves when it is read.
ECHOED = [kind for kind in DESCRIBABLE if kind not in ("uninitialized_parameter", "copy_on_write")]


def test_echo_gives_back_the_same_memory() -> None:
    for kind in ECHOED:
        tensor = without_warnings(DESCRIBABLE[kind])
        back = echo(tensor)
        assert type(back) is torch.Tensor, kind
        assert back.data_ptr() == tensor.data_ptr(), kind
        assert (back.shape, back.stride(), back.dtype) == (tensor.shape, tensor.stride(), tensor.dtype), kind
        assert back.tolist() == tensor.tolist(), kind


def test_echo_keeps_nothing() -> None:
    tensor = torch.ones(3)
    before = use_count(tensor)
    back = echo(tensor)
    assert use_count(tensor) > before
    del back
    gc.collect()
    assert use_count(tensor) == before


CONTAINERS: dict[str, Any] = {
    "list": lambda x, y: [x, y],
    "tuple": lambda x, y: (x, y),
    "nested_list": lambda x, y: [[x], [y, [x, y]]],
    "dict": lambda x, y: {"x": x, "y": y},
    "dict_of_lists": lambda x, y: {"x": [x, y], "y": [[y]]},
    "mixed": lambda x, y: [1, "text", x, {"y": y}, None],
}


def leaves(value: Any) -> list[Any]:
    if isinstance(value, ffi().Map):
        return [leaf for key in sorted(value.keys()) for leaf in leaves(value[key])]
    if isinstance(value, ffi().Array):
        return [leaf for one in value for leaf in leaves(one)]
    return [value] if hasattr(value, "__dlpack__") else []


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_keep_their_tensors(name: str) -> None:
    x, y = torch.arange(3.0), torch.arange(4.0).reshape(2, 2).t()
    found = leaves(echo(CONTAINERS[name](x, y)))
    assert found
    expected = {x.data_ptr(): x, y.data_ptr(): y}
    for leaf in found:
        tensor = leaf if isinstance(leaf, torch.Tensor) else torch.from_dlpack(leaf)
        assert torch.equal(tensor, expected[tensor.data_ptr()])
    if "dict" not in name and name != "mixed" and TVM_FFI >= ARRAYS_RETURN_TORCHS_TENSORS:
        assert {type(leaf) for leaf in found} == {torch.Tensor}
    del found, leaf, tensor
    gc.collect()
    assert use_count(x) == use_count(torch.arange(3.0))


def test_a_function_sees_the_first_element() -> None:
    for kind in ("offset_view", "strided_view", "transposed"):
        tensor = DESCRIBABLE[kind]()
        assert consumer()["address_of"](tensor) == tensor.data_ptr()


def test_the_environments_allocator_is_the_tables() -> None:
    table = DLPackExchangeAPI.from_address(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    assert consumer()["allocator_for"](torch.ones(1)) == table.managed_tensor_allocator


def test_the_environment_allocates_every_dtype() -> None:
    for name in DTYPES:
        like = without_warnings(torch.zeros(16 * 4, dtype=torch.uint8).view, getattr(torch, name)).reshape(2, -1)
        made = consumer()["allocate_like"](like)
        assert type(made) is torch.Tensor, name
        assert (made.dtype, made.shape, made.device) == (like.dtype, like.shape, like.device), name
        assert made.is_contiguous(), name
        assert made.data_ptr() != like.data_ptr(), name
        made.view(torch.uint8).fill_(3)


def test_the_hosts_stream_is_null() -> None:
    assert consumer()["stream_for"](torch.ones(1)) == 0


@left_out_if(PROVIDER != "dlx", f"the table in use is not ours but {PROVIDER}")
def test_a_refusal_has_our_text() -> None:
    with pytest.raises(BufferError) as caught:
        echo(torch.ones(2, dtype=torch.complex64).conj())
    assert str(caught.value).strip().splitlines()[-1].startswith(PREFIX)


SWITCHES = (*map(_tvm_ffi.skip_variable, ("0.1.4", "0.1.5")), _tvm_ffi.DISABLE_VARIABLE)


@left_out_if(PROVIDER != "dlx", f"the table in use is not ours but {PROVIDER}")
@pytest.mark.parametrize("value", ["1", "0", "true", ""])
@pytest.mark.parametrize("switch", SWITCHES)
def test_the_doctor_names_a_switch_where_tvm_ffi_ignores_our_table(
    switch: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(switch, value)
    ignored = True
    try:
        echo(torch.ones(2, dtype=torch.complex64).conj())  # without our table it is accepted
    except BufferError as error:
        ignored = PREFIX not in str(error)
    named = [finding for finding in report.collect()["findings"] if finding.startswith(switch)]
    assert bool(named) == ignored, named
    assert ignored == (value == "1" and switch == _tvm_ffi.skip_variable(version("apache-tvm-ffi")))


@on_a_cuda_build
def test_the_environments_stream_is_the_current_one_of_the_device() -> None:
    stream_for = consumer()["stream_for"]
    tensors = {device: torch.empty(4, device=f"cuda:{device}") for device in devices()}
    for inside in devices():
        stream = torch.cuda.Stream(device=inside)
        with torch.cuda.stream(stream):
            assert stream_for(tensors[inside]) == stream.cuda_stream
            for device, tensor in tensors.items():
                with current_device_stays():
                    assert stream_for(tensor) == torch.cuda.current_stream(device).cuda_stream
        assert stream_for(tensors[inside]) == torch.cuda.current_stream(inside).cuda_stream != stream.cuda_stream


@on_a_cuda_build
def test_the_environment_allocates_on_the_device() -> None:
    for device in devices():
        like = torch.empty(1024, device=f"cuda:{device}")
        before = torch.cuda.memory_allocated(device)
        with current_device_stays():
            made = consumer()["allocate_like"](like)
        assert type(made) is torch.Tensor
        assert made.device == like.device
        assert torch.cuda.memory_allocated(device) == before + 4096
        del made
        assert torch.cuda.memory_allocated(device) == before


@on_a_cuda_build
def test_echo_stays_on_the_device() -> None:
    for device in devices():
        tensor = torch.empty(4, device=f"cuda:{device}")
        back = echo(tensor)
        assert (type(back), back.device, back.data_ptr()) == (torch.Tensor, tensor.device, tensor.data_ptr())
