"""`import torch` alone attaches a table: which one, how it stays, and how it is kept from that. In new interpreters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulators.cuda import recorder
from tests.snippets import autoload
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import CALLS_EXTENSIONS, HAS_OWN_TABLE, LINE, NAME

# What this package chooses here, if no other package has attached a table.
CHOICE = "upstream" if HAS_OWN_TABLE else "dlx"
ON_IMPORT = CHOICE if CALLS_EXTENSIONS or HAS_OWN_TABLE else "none"

# The settings of this session must not reach the new interpreters.
NO_SETTINGS = dict.fromkeys(["DLX_TORCH_DISABLE", "DLX_TORCH_AUTOLOAD", "DLX_TORCH_PREFER", "DLX_TORCH_LIBRARY"])


def call(function: Callable[..., Any], **env: str | None) -> Any:
    return spawn.call(function, env={**NO_SETTINGS, **env})


@functools.cache
def whole_life() -> Any:
    return call(autoload.whole_life)


def test_import_torch_is_enough() -> None:
    status = whole_life()["status"]
    assert status["provider"] == ON_IMPORT, status
    if ON_IMPORT == "none":
        assert whole_life()["first"]["capsule"] is None
        assert "dlx_torch_ext.attach()" in status["reason"]
    else:
        assert whole_life()["first"]["capsule"][1] == '<capsule object "dlpack_exchange_api"'


def test_the_library_is_this_torchs() -> None:
    life = whole_life()
    assert life["attached"][0] == CHOICE
    if CHOICE == "dlx":
        status = life["attached_status"]
        assert f"torch{LINE[0]}.{LINE[1]}-" in status["variant"]
        assert f"torch{LINE[0]}_{LINE[1]}_" in status["library"]


def test_it_imports_no_more_than_it_needs() -> None:
    imported = whole_life()["imported"]
    assert not [name for name in imported if name.startswith("tvm_ffi")]
    assert not [name for name in imported if name.startswith("dlx_torch_ext._cli")]


def test_it_leaves_the_devices_alone() -> None:
    """If a device is asked for anything at import, a later fork cannot use it."""
    assert whole_life()["fork_is_safe"]


@left_out_if(not recorder.simulated(), "real devices keep no record of calls, and without CUDA there are none")
def test_it_makes_no_call_to_a_device() -> None:
    """torch itself makes some when it is imported: the same without us."""
    without_us = call(autoload.import_torch, TORCH_DEVICE_BACKEND_AUTOLOAD="0", DLX_TORCH_DISABLE="1")
    assert without_us["imported"] == []
    assert without_us["device_calls"], "the simulated CUDA records nothing"
    assert whole_life()["device_calls"] == without_us["device_calls"]
    assert whole_life()["device_calls_after"] == []


def test_attach_can_be_repeated() -> None:
    assert whole_life()["attached"] == whole_life()["again"] == [CHOICE, whole_life()["attached"][1]]


def test_tvm_ffi_does_not_replace_the_table() -> None:
    assert whole_life()["tvm_ffi"] == whole_life()["attached"]


def test_detach_restores_what_was_there() -> None:
    life = whole_life()
    if HAS_OWN_TABLE:
        assert life["detached"] == ["upstream", life["first"]]
    else:
        assert life["detached"] == ["none", {"capsule": None, "legacy": None}]
    provider, attributes = life["attached_after_detach"]
    assert provider == CHOICE
    assert attributes.get("address") == life["attached"][1]["address"], "the same library has the same table"
    assert life["round_trip"]


SWITCHES = {
    "DLX_TORCH_DISABLE": "1",
    "DLX_TORCH_AUTOLOAD": "0",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}


@pytest.mark.parametrize("name", SWITCHES)
def test_it_can_be_switched_off(name: str) -> None:
    seen = call(autoload.import_then_attach, **{name: SWITCHES[name]})
    if HAS_OWN_TABLE:
        assert seen["status"]["provider"] == "upstream"
        assert seen["after"] == seen["first"]
    else:
        assert seen["first"]["capsule"] is None
        assert (seen["status"]["provider"] == "none" and name in seen["status"]["reason"]) or not CALLS_EXTENSIONS
        assert seen["attached"] == ("none" if name == "DLX_TORCH_DISABLE" else "dlx")


@left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, which tvm-ffi finds at once")
def test_attaching_too_late_is_said_once() -> None:
    (first, warned), (second, nothing) = call(autoload.attach_after_tvm_ffi, DLX_TORCH_AUTOLOAD="0")
    assert (first, second) == ("dlx", "dlx")
    assert len(warned) == 1
    assert warned[0][0] == "AttachWarning"
    assert "tvm-ffi" in warned[0][1]
    assert nothing == []


@left_out_if(not HAS_OWN_TABLE, f"{NAME} has no table of its own")
def test_torchs_own_table_is_left_alone() -> None:
    """The capsule, its address and its bytes are the same before and after everything that this package does."""
    life = whole_life()
    for moment in ("attached", "again", "tvm_ffi", "detached", "attached_after_detach"):
        assert life[moment] == ["upstream", life["first"]]
    without_us, is_torchs = call(autoload.torchs_own_table, DLX_TORCH_DISABLE="1")
    assert is_torchs
    assert without_us["own"] == life["first"]["own"]
    assert without_us["legacy"] is life["first"]["legacy"] is None
    assert len(without_us["bytes"]) == len(life["first"]["bytes"])
    # Addresses differ from process to process; the distances between the functions do not.
    assert distances(without_us["bytes"]) == distances(life["first"]["bytes"])


def distances(table: str) -> list[int]:
    """The version and prev_api of a table, and how far each function lies from the first."""
    words = [int.from_bytes(bytes.fromhex(table)[i : i + 8], "little") for i in range(0, len(table) // 2, 8)]
    functions = words[2:]
    return [words[0], words[1], *(function - functions[0] for function in functions)]


def test_attaching_inside_a_transform_of_torch_func() -> None:
    assert call(autoload.attach_inside_transforms) == [CHOICE] * 3
