"""Our table on Ascend: the real torch_npu of this interpreter, on a simulated CANN."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import pytest

from tests.snippets import torch_npu, torch_npu_alone
from tests.support import on_ascend
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.structs import ASCEND, EXT_DEV
from tests.support.table import PREFIX
from tests.support.this_torch import BUILT_FOR_CUDA, CALLS_EXTENSIONS, HAS_OWN_TABLE, HAS_TORCH_NPU, NAME

pytestmark = left_out_if(not HAS_TORCH_NPU, "torch_npu is not installed")
without_own_table = left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, whose exports stay")

PROVIDER = "overlay" if HAS_OWN_TABLE else "dlx"
# torch_npu sets the last one for its own import and, up to 2.11, leaves it.
NO_SETTINGS = dict.fromkeys(
    [
        "DLX_TORCH_DISABLE",
        "DLX_TORCH_AUTOLOAD",
        "DLX_TORCH_PREFER",
        "DLX_TORCH_LIBRARY",
        "TORCH_DEVICE_BACKEND_AUTOLOAD",
    ]
)


def without_cann() -> dict[str, str | None]:
    """An environment in which torch can be imported and torch_npu cannot: CANN's libraries are missing."""
    kept = [folder for folder in os.environ["LD_LIBRARY_PATH"].split(":") if "ascend" not in folder]
    return {**NO_SETTINGS, "LD_LIBRARY_PATH": ":".join(kept)}


def test_the_table_is_ours() -> None:
    seen = on_ascend.call(torch_npu.provider_backend_and_reason)
    assert seen[:2] == [PROVIDER, "torch_npu"], seen


@pytest.mark.parametrize("first", ["torch", "torch_npu"])
@pytest.mark.parametrize("autoload", ["0", "1"])
def test_whatever_comes_first_an_attach_gives_the_same(first: str, autoload: str) -> None:
    env = {**NO_SETTINGS, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    seen = spawn.call(torch_npu_alone.import_in_order_and_attach, [first, "torch"], env=env)
    assert seen == [PROVIDER, "torch_npu"]


SHIM = "torch_npu.contrib.transfer_to_npu"


@pytest.mark.parametrize(
    ("autoload", "names"),
    [("0", ["torch_npu", SHIM]), ("0", ["torch", "dlx_torch_ext", SHIM]), ("1", ["torch", SHIM])],
    ids=["torch_npu first", "torch first", "attached before"],
)
def test_torch_npu_in_the_place_of_torch_cuda_makes_no_cuda(autoload: str, names: list[str]) -> None:
    env = {**NO_SETTINGS, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    assert spawn.call(torch_npu_alone.backends_with_the_shim, names, env=env) == {
        "backends": ["torch_npu"] * 5,
        "stream": True,
        "cuda": True,
        "detected": "torch_npu",
    }


@left_out_if(not BUILT_FOR_CUDA, f"{NAME} is built without CUDA")
@without_own_table
def test_a_cuda_device_comes_first_and_torch_npu_refuses_it() -> None:
    env = {**NO_SETTINGS, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "DLX_SIM_CUDA_DEVICES": "2"}
    before, answer, after = spawn.call(torch_npu_alone.beside_a_cuda_device, env=env)
    assert "Two accelerators cannot be used at the same time" in answer
    assert (before, after) == ("cuda", "cuda")


def test_import_torch_alone_attaches_where_torch_calls_its_extensions() -> None:
    provider = spawn.call(torch_npu_alone.provider_after_import, env=NO_SETTINGS)
    assert provider == (PROVIDER if CALLS_EXTENSIONS else "none")


def test_without_cann_the_error_is_torchs_own() -> None:
    with_us = spawn.python("-c", "import torch", env=without_cann())
    without_us = spawn.python("-c", "import torch", env={**without_cann(), "DLX_TORCH_DISABLE": "1"})
    assert with_us.status == without_us.status != 0
    last = with_us.stderr.strip().splitlines()[-1]
    assert last == without_us.stderr.strip().splitlines()[-1]
    assert "dlx" not in last


def test_the_stream_is_the_current_one_of_each_device() -> None:
    assert on_ascend.call(torch_npu.streams_inside_and_outside) == {
        "default": True,
        "within_first": True,
        "within_both": True,
        "current_device": 0,
    }


def test_the_stream_is_the_same_by_either_name() -> None:
    assert on_ascend.call(torch_npu.streams_by_both_names) == [True] * 4


def test_the_stream_is_a_threads_own() -> None:
    assert on_ascend.call(torch_npu.stream_of_two_threads) == [True, True, True]


def test_other_devices_are_answered_as_before() -> None:
    host, *errors = on_ascend.call(torch_npu.stream_of_the_host_and_errors)
    assert host is None
    assert [kind for kind, _ in errors] == ["RuntimeError"] * 5
    assert all(is_our_line(text) for _, text in errors)


def is_our_line(text: str) -> bool:
    return text.startswith(PREFIX) and "\n" not in text


@pytest.mark.parametrize("current", [0, 1])
@pytest.mark.parametrize(("setting", "waits"), [(None, True), ("1", True), ("0", False)])
def test_the_queue_is_drained_unless_told_not_to(setting: str | None, waits: bool, current: int) -> None:
    seen = on_ascend.call(torch_npu.stream_waits_for_the_queue, current, waits, DLX_TORCH_NPU_DRAIN=setting)
    assert seen == [waits, current]


def test_a_queue_that_cannot_be_waited_for_is_an_error_never_null() -> None:
    kind, text = on_ascend.call(torch_npu.stream_of_a_queue_that_cannot_be_waited_for)
    assert kind == "RuntimeError"
    assert text.startswith(PREFIX)
    assert "queue" in text


def test_a_failed_queue_is_an_error() -> None:
    kind, text = on_ascend.call(torch_npu.stream_of_a_failed_queue)
    assert kind == "RuntimeError"
    assert is_our_line(text)


def test_without_libtorch_npu_the_stream_is_an_error() -> None:
    env = {**without_cann(), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    rc, kind, text = spawn.call(torch_npu_alone.stream_without_libtorch_npu, env=env)
    assert (rc, kind) == (-1, "RuntimeError")
    assert text == "dlx-torch: libtorch_npu is not loaded: import torch_npu first"


def came_back(name: int) -> dict[str, Any]:
    return {
        "exported": {"device": [name, 1], "shape": [4, 3], "strides": [1, 4], "same_address": True},
        "device": "npu:1",
        "shape": [4, 3],
        "strides": [1, 4],
        "same_address": True,
        "format": 2,
        "is_a_tensor": True,
    }


@pytest.mark.parametrize("renamed", [None, ASCEND])
def test_tensors_go_out_and_come_back_with_torch_npus_own_storage(renamed: int | None) -> None:
    assert on_ascend.call(torch_npu.round_trip, renamed) == came_back(EXT_DEV)


@pytest.mark.parametrize(("setting", "name"), [(" Ascend", ASCEND), ("21", EXT_DEV)])
def test_they_go_out_under_the_newer_name_where_that_is_asked_for(setting: str, name: int) -> None:
    env = {**NO_SETTINGS, "DLX_TORCH_NPU_DEVICE_TYPE": setting}
    assert spawn.call(torch_npu.round_trips, [None, EXT_DEV, ASCEND], env=env) == [came_back(name)] * 3


@pytest.mark.parametrize("name", [EXT_DEV, ASCEND])
def test_memory_of_another_library_gets_torch_npus_own_storage(name: int) -> None:
    assert on_ascend.call(torch_npu.import_memory_of_another_library, name) == {
        "device": "npu:1",
        "offset": 8,
        "shape": [2, 3],
        "has_the_usual_format": True,
        "deleted_with_a_view_left": 0,
        "deleted_at_last": 1,
        "current_device": 0,
    }


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "device_2": ({"device": (EXT_DEV, 2)}, "BufferError"),
    "device_minus_1": ({"device": (EXT_DEV, -1)}, "BufferError"),
    "device_2_by_its_newer_name": ({"device": (ASCEND, 2)}, "BufferError"),
    "lanes_2": ({"dtype": (2, 32, 2)}, "BufferError"),
    "size_negative": ({"shape": (-2, 3)}, "ValueError"),
    "stride_negative": ({"strides": (-3, 1)}, "ValueError"),
    "data_null": ({"data": None}, "ValueError"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_imported_stays_with_the_caller(name: str) -> None:
    described, expected = REFUSED[name]
    kind, text, deleted = on_ascend.call(torch_npu.import_refused, described)
    assert (kind, deleted) == (expected, 0)
    assert text.startswith(PREFIX)


@pytest.mark.parametrize("name", [EXT_DEV, ASCEND])
def test_allocation_lands_on_the_device_asked_for(name: int) -> None:
    assert on_ascend.call(torch_npu.allocate_on_each_device, name) == [
        {"device": f"npu:{index}", "grown": True, "shape": [3, 4], "current_device": 0, "freed": True}
        for index in (0, 1)
    ]


@without_own_table
def test_a_private_layout_is_refused() -> None:
    kind, text = on_ascend.call(torch_npu.export_a_private_layout)
    assert kind == "BufferError"
    assert "private layout" in text


@without_own_table
@pytest.mark.parametrize("dims", [1, 2, 3, 4, 5, 6])
def test_plain_layouts_of_every_rank_are_exported(dims: int) -> None:
    assert on_ascend.call(torch_npu.export_has_the_address, dims)


@left_out_if(not HAS_OWN_TABLE, f"{NAME} has no table of its own")
def test_torchs_table_stays_untouched_and_comes_back() -> None:
    assert on_ascend.call(torch_npu.torchs_table_before_and_after) == {
        "same": ["managed_tensor_from_py_object_no_sync", "dltensor_from_py_object_no_sync"],
        "replaced": ["managed_tensor_allocator", "managed_tensor_to_py_object_no_sync", "current_work_stream"],
        "back": True,
        "unchanged": True,
    }


def test_a_child_that_was_forked_after_its_parent_had_used_the_device_has_no_stream() -> None:
    text = (
        "dlx-torch: this process was forked after its parent had used the torch_npu device, which does not work in a"
        " child: start it by 'spawn' or 'forkserver'"
    )
    refused, allowed = ["RuntimeError", text], ["nothing", ""]
    assert spawn.call(torch_npu.streams_of_forked_children, True) == [refused, refused, allowed]
    assert spawn.call(torch_npu.streams_of_forked_children, False) == [allowed] * 3


def test_a_function_called_through_tvm_ffi_sees_the_stream() -> None:
    seen = on_ascend.call(torch_npu.streams_seen_through_tvm_ffi, TVM_FFI_DISABLE_TORCH_C_DLPACK="1")
    assert seen == [True, True]


def test_the_doctor_names_torch_npu_and_the_policy() -> None:
    finished = spawn.python("-m", "dlx_torch_ext", "doctor", env={**NO_SETTINGS, "DLX_TORCH_NPU_DRAIN": "0"})
    assert finished.status == 0, str(finished)
    assert version("torch_npu") in finished.stdout
    assert "does not wait" in finished.stdout
