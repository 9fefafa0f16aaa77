"""The kit where it needs a process of its own: devices, no table, other interpreters, many threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulators.cuda import environment
from tests.snippets import kit as snippets
from tests.support.kit import build
from tests.support.left_out import cases, left_out_if
from tests.support.process import spawn
from tests.support.this_torch import BUILT_FOR_CUDA, HAS_OWN_TABLE

on_a_cuda_build = left_out_if(not BUILT_FOR_CUDA, "torch is not built for CUDA")
OWN_TABLE = (HAS_OWN_TABLE, "torch has a table of its own")
both_ways = pytest.mark.parametrize("disabled", cases(["0", "1"], {"1": OWN_TABLE}))


@on_a_cuda_build
@both_ways
def test_devices_and_streams(disabled: str) -> None:
    seen: Any = spawn.call(snippets.streams, env={**environment(), "DLX_TORCH_DISABLE": disabled})
    assert seen["default"] == ["cuda:0", 0]
    assert seen["host"] == ["cpu", 0]
    assert (seen["side 0"], seen["side 1"]) == (["cuda:0", True], ["cuda:1", True])
    assert [error.removesuffix("; all have to be on one device") for error in seen["errors"]] == [
        "ValueError: where: argument 2 'y': is on cuda:1, but argument 1 'x' is on cuda:0",
        "ValueError: where: argument 2 'y': is on cpu, but argument 1 'x' is on cuda:0",
        "ValueError: where: argument 3 'z': is on cuda:1, but argument 2 'y' is on cuda:0",
    ]
    assert seen["made"] == "cuda:1"
    assert seen["made beside the host"] == "cpu"


@both_ways
def test_tvm_ffis_own_tensors_beside_torchs_and_numpys(disabled: str) -> None:
    # Without its add-on for torch, which it would compile if it is missing.
    env = {"DLX_TORCH_DISABLE": disabled, "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    seen: Any = spawn.call(snippets.with_tvm_ffis_tensors, env=env)
    assert seen[:3] == ["tvm_ffi.core", True, [1.0, 3.0, 5.0]]
    assert seen[3] == "AttributeError: saxpy: the output: module 'tvm_ffi' has no attribute 'empty'"


@left_out_if(HAS_OWN_TABLE, "torch has a table of its own from the start")
def test_a_table_that_is_attached_and_detached_later() -> None:
    seen: Any = spawn.call(snippets.attached_later, env={"DLX_TORCH_AUTOLOAD": "0"})
    assert seen == [False, "dlx", [2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]


def test_interpreters_end_with_what_they_remembered() -> None:
    assert spawn.call(snippets.in_other_interpreters, str(build())) == [20]


def test_many_threads_with_many_types() -> None:
    assert spawn.call(snippets.by_many_threads, 4) == 4


@left_out_if(HAS_OWN_TABLE, "torch has a table of its own")
def test_every_test_of_the_kit_without_a_table() -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/integration/kit", f"--ignore={Path(__file__)}")
    finished = spawn.python(*words, env={"DLX_TORCH_DISABLE": "1"})
    assert finished.status == 0, str(finished)
    assert "torch.Tensor has no table here" in finished.stdout, "the tests of the table itself are left out there"
