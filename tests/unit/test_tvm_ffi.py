"""A table that comes too late for tvm-ffi, here a fake, which keeps for each type the way it found first."""

from __future__ import annotations

import ctypes
import types
import warnings
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _attach, _capsule

from tests.support import fake_torch
from tests.support.installation import entry
from tests.support.structs import DLPackExchangeAPI

Place = Callable[..., Any]
Install = Callable[..., Path]


@pytest.fixture
def conjugate(place: Place, install: Install) -> Any:
    """A torch that our library fits, whose tensors know of conjugate views."""
    install([entry("2.9", True, "cpu")])
    torch = place(fake_torch.torch(whole=True))
    torch.Tensor.conj = lambda self: self
    return torch


def tvm_ffi(array: Callable[[Any], Any]) -> Any:
    module: Any = types.ModuleType("tvm_ffi")
    module.__spec__ = types.SimpleNamespace(_initializing=False)
    module.get_global_func = lambda name: {"ffi.Array": array}[name]
    return module


def refuse_in_our_words(_: Any) -> None:
    raise BufferError("dlx-torch: cannot export a conjugate view")


def test_a_way_that_is_not_ours_warns_once_at_the_caller(conjugate: Any, place: Place) -> None:
    place(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    with pytest.warns(RuntimeWarning, match="after tvm-ffi had seen") as caught:
        dlx.attach()
    assert [warning.filename for warning in caught] == [__file__]
    dlx.detach()
    dlx.attach()


def test_a_refusal_in_other_words_warns(conjugate: Any, place: Place) -> None:
    def refuse(_: Any) -> None:
        raise BufferError("Can't export to DLPack")

    place(tvm_ffi(refuse), "tvm_ffi")
    with pytest.warns(RuntimeWarning, match="after tvm-ffi had seen"):
        dlx.attach()


def test_our_own_refusal_does_not(conjugate: Any, place: Place) -> None:
    place(tvm_ffi(refuse_in_our_words), "tvm_ffi")
    dlx.attach()


def test_a_warning_made_an_error_comes_after_the_table(conjugate: Any, place: Place) -> None:
    place(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            dlx.attach()
    assert dlx.status().provider == "dlx"


@pytest.mark.parametrize("spoil", ["initializing", "no function", "skipped", "no conj"])
def test_any_doubt_is_no_warning(spoil: str, conjugate: Any, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    module = place(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    if spoil == "initializing":
        module.__spec__ = types.SimpleNamespace(_initializing=True)
    elif spoil == "no function":
        del module.get_global_func
    elif spoil == "skipped":
        monkeypatch.setenv("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API", "1")
    else:
        del conjugate.Tensor.conj
    assert dlx.attach().provider == "dlx"


def test_nothing_attached_asks_nothing(place: Place, install: Install) -> None:
    install([])
    table = DLPackExchangeAPI()
    place(fake_torch.torch("2.13.0", own_table=_capsule.make_capsule(ctypes.addressof(table)), whole=True))

    def fail(_: Any) -> None:
        raise AssertionError("tvm-ffi was asked")

    place(tvm_ffi(fail), "tvm_ffi")
    assert dlx.attach().provider == "upstream"
    assert _attach._warned_too_late is False
