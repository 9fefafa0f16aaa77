"""`import torch` alone brings the table: what is there, who put it, how it is kept away. New interpreters each time."""

from __future__ import annotations

import functools
from importlib.metadata import version
from typing import Any

import pytest

from tests.support.process import spawn

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])
CALLS_EXTENSIONS = TORCH >= (2, 5)
HAS_A_TABLE = TORCH >= (2, 10)

# What this package's own choice is here, without any table of another package.
CHOICE = "upstream" if HAS_A_TABLE else "dlx"
ON_IMPORT = CHOICE if CALLS_EXTENSIONS or HAS_A_TABLE else "none"

# The runs below speak for themselves: nothing of this run's own settings reaches them.
CLEAN = dict.fromkeys(["DLX_TORCH_DISABLE", "DLX_TORCH_AUTOLOAD", "DLX_TORCH_PREFER", "DLX_TORCH_LIBRARY"])

LOOK = """\
import json, sys, warnings
import torch
brought = sorted(name for name in sys.modules if name.split(".")[0] in ("dlx_torch_ext", "tvm_ffi"))
fork_is_safe = not (torch.version.cuda and torch.cuda._is_in_bad_fork()) and not torch.cuda.is_initialized()

def look():
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    legacy = getattr(torch.Tensor, "__c_dlpack_exchange_api__", None)
    if capsule is None:
        return {"capsule": None, "legacy": legacy}
    import ctypes
    from tests.support.structs import DLPackExchangeAPI
    from tests.support.table import capsule_address
    address = capsule_address(capsule)
    return {
        "capsule": [id(capsule), repr(capsule).split(" at ")[0]],
        "address": address,
        "bytes": ctypes.string_at(address, ctypes.sizeof(DLPackExchangeAPI)).hex(),
        "legacy": legacy,
        "own": "__dlpack_c_exchange_api__" in vars(torch.Tensor),
    }

def say():
    status = dlx_torch_ext.status()
    return {name: getattr(status, name) for name in ("provider", "variant", "library", "backend", "reason")}

first = look()
"""


def told(code: str, **env: str | None) -> Any:
    """What the snippet, run after LOOK in a new interpreter, collects in `answer`."""
    return spawn.code(LOOK + code + "\nprint(json.dumps(answer))", env={**CLEAN, **env}).value


@functools.cache
def one_life() -> Any:
    """import torch, attach, detach, attach: one process tells of all of it."""
    return told(
        """
import dlx_torch_ext
answer = {"first": first, "brought": brought, "fork_is_safe": fork_is_safe, "status": say()}
answer["attached"] = [dlx_torch_ext.attach().provider, look()]
answer["attached_status"] = say()
answer["again"] = [dlx_torch_ext.attach().provider, look()]
import tvm_ffi
answer["tvm_ffi"] = [say()["provider"], look()]
dlx_torch_ext.detach()
answer["detached"] = [say()["provider"], look()]
dlx_torch_ext.detach()
answer["back"] = [dlx_torch_ext.attach().provider, look()]
answer["selftest"] = torch.equal(torch.from_dlpack(tvm_ffi.from_dlpack(torch.arange(3))), torch.arange(3))
"""
    )


def test_import_torch_is_enough() -> None:
    status = one_life()["status"]
    assert status["provider"] == ON_IMPORT, status
    if ON_IMPORT == "none":
        assert one_life()["first"]["capsule"] is None
        assert "dlx_torch_ext.attach()" in status["reason"]
    else:
        assert one_life()["first"]["capsule"][1] == '<capsule object "dlpack_exchange_api"'


def test_the_library_is_this_torchs() -> None:
    life = one_life()
    assert life["attached"][0] == CHOICE
    if CHOICE == "dlx":
        status = life["attached_status"]
        assert f"torch{TORCH[0]}.{TORCH[1]}-" in status["variant"]
        assert f"torch{TORCH[0]}_{TORCH[1]}_" in status["library"]


def test_it_imports_no_more_than_it_needs() -> None:
    brought = one_life()["brought"]
    assert not [name for name in brought if name.startswith("tvm_ffi")]
    assert not [name for name in brought if name.startswith("dlx_torch_ext._cli")]


def test_it_leaves_the_devices_alone() -> None:
    """A device call at import breaks a later fork."""
    assert one_life()["fork_is_safe"]


def test_attach_can_be_repeated() -> None:
    assert one_life()["attached"] == one_life()["again"] == [CHOICE, one_life()["attached"][1]]


def test_tvm_ffi_does_not_replace_the_table() -> None:
    assert one_life()["tvm_ffi"] == one_life()["attached"]


def test_detach_restores_what_was_there() -> None:
    life = one_life()
    if HAS_A_TABLE:
        assert life["detached"] == ["upstream", life["first"]]
    else:
        assert life["detached"] == ["none", {"capsule": None, "legacy": None}]
    assert life["back"][0] == CHOICE
    assert life["back"][1].get("address") == life["attached"][1]["address"], "the same library gives the same table"
    assert life["selftest"]


SWITCHES = {
    "DLX_TORCH_DISABLE": "1",
    "DLX_TORCH_AUTOLOAD": "0",
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}


@pytest.mark.parametrize("name", SWITCHES)
def test_it_can_be_switched_off(name: str) -> None:
    answer = told(
        """
import dlx_torch_ext
answer = {"first": first, "brought": brought, "status": say(), "attached": dlx_torch_ext.attach().provider}
answer["after"] = look()
""",
        **{name: SWITCHES[name]},
    )
    if HAS_A_TABLE:
        assert answer["status"]["provider"] == "upstream"
        assert answer["after"] == answer["first"]
    else:
        assert answer["first"]["capsule"] is None
        assert (answer["status"]["provider"] == "none" and name in answer["status"]["reason"]) or not CALLS_EXTENSIONS
        assert answer["attached"] == ("none" if name == "DLX_TORCH_DISABLE" else "dlx")


if not HAS_A_TABLE:

    def test_attaching_too_late_is_said_once() -> None:
        answer = told(
            """
# as tvm-ffi finds torch without a table; it would compile one
torch.Tensor.__dlpack_c_exchange_api__ = None
import tvm_ffi
del torch.Tensor.__dlpack_c_exchange_api__
tvm_ffi.get_global_func("testing.echo")(torch.ones(1))
import dlx_torch_ext
answer = []
for _ in range(2):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        provider = dlx_torch_ext.attach().provider
    answer.append([provider, [[one.category.__name__, str(one.message)] for one in caught]])
    dlx_torch_ext.detach()
""",
            DLX_TORCH_AUTOLOAD="0",
        )
        (first, caught), (second, nothing) = answer
        assert (first, second) == ("dlx", "dlx")
        assert len(caught) == 1
        assert caught[0][0] == "RuntimeWarning"
        assert "tvm-ffi" in caught[0][1]
        assert nothing == []


if HAS_A_TABLE:

    def test_torchs_own_table_is_left_alone() -> None:
        """The very capsule, address and bytes that torch has put there, before and after everything of ours."""
        life = one_life()
        for moment in ("attached", "again", "tvm_ffi", "detached", "back"):
            assert life[moment] == ["upstream", life["first"]]
        without = told("answer = [first, torch._C._dlpack_exchange_api() is not None]", DLX_TORCH_DISABLE="1")
        assert without[0]["own"] == life["first"]["own"]
        assert without[0]["legacy"] is life["first"]["legacy"] is None
        assert len(without[0]["bytes"]) == len(life["first"]["bytes"])
        # Addresses differ from process to process; how far the functions lie apart does not.
        assert spread(without[0]["bytes"]) == spread(life["first"]["bytes"])


def spread(table: str) -> list[int]:
    words = [int.from_bytes(bytes.fromhex(table)[i : i + 8], "little") for i in range(0, len(table) // 2, 8)]
    functions = words[2:]
    return [words[0], words[1], *(function - functions[0] for function in functions)]


def test_attaching_inside_a_transform_of_torch_func() -> None:
    answer = told(
        """
import dlx_torch_ext
answer = []
def attach(x):
    dlx_torch_ext.detach()
    answer.append(dlx_torch_ext.attach().provider)
    return x.sum()
torch.func.grad(attach)(torch.ones(3))
torch.vmap(attach)(torch.ones(2, 3))
torch.func.functionalize(attach)(torch.ones(3))
"""
    )
    assert answer == [CHOICE] * 3
