"""The warning if a table is attached after tvm-ffi has seen a tensor. tvm-ffi is a fake here."""

from __future__ import annotations

import ctypes
import types
import warnings
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _attach, _capsule, _tvm_ffi

from tests.support import fake_torch
from tests.support.installation import entry
from tests.support.structs import DLPackExchangeAPI

SetModule = Callable[..., Any]
InstallVariants = Callable[..., Path]


@pytest.fixture
def conjugate(set_module: SetModule, install_variants: InstallVariants) -> Any:
    """A torch that our library fits, with tensors that can be conjugate views."""
    install_variants([entry("2.9", True, "cpu")])
    torch = set_module(fake_torch.torch(whole=True))
    torch.Tensor.conj = lambda self: self
    return torch


def tvm_ffi(array: Callable[[Any], Any]) -> Any:
    module: Any = types.ModuleType("tvm_ffi")
    module.__spec__ = types.SimpleNamespace(_initializing=False)
    module.get_global_func = lambda name: {"ffi.Array": array}[name]
    return module


def refuse_as_our_table_does(_: Any) -> None:
    raise BufferError("dlx-torch: cannot export a conjugate view")


def test_a_conjugate_view_that_is_accepted_warns_once_at_the_caller(conjugate: Any, set_module: SetModule) -> None:
    set_module(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    with pytest.warns(dlx.AttachWarning, match="after tvm-ffi had seen") as caught:
        dlx.attach()
    assert [warning.filename for warning in caught] == [__file__]
    dlx.detach()
    dlx.attach()


def test_another_error_for_the_conjugate_view_warns(conjugate: Any, set_module: SetModule) -> None:
    def refuse(_: Any) -> None:
        raise BufferError("Can't export to DLPack")

    set_module(tvm_ffi(refuse), "tvm_ffi")
    with pytest.warns(dlx.AttachWarning, match="after tvm-ffi had seen"):
        dlx.attach()


def test_our_own_refusal_does_not_warn(conjugate: Any, set_module: SetModule) -> None:
    set_module(tvm_ffi(refuse_as_our_table_does), "tvm_ffi")
    dlx.attach()


def test_a_warning_as_an_error_is_raised_after_attaching(conjugate: Any, set_module: SetModule) -> None:
    set_module(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(dlx.AttachWarning):
            dlx.attach()
    assert dlx.status().provider == "dlx"


def test_tvm_ffi_is_asked_while_torchs_modes_are_off(conjugate: Any, set_module: SetModule) -> None:
    """A mode that raises would look like a refusal that is not ours."""
    modes = ["on"]

    class Guard:
        def __enter__(self) -> None:
            modes.append("off")

        def __exit__(self, *_: object) -> None:
            modes.append("on")

    def array(_: Any) -> None:
        if modes[-1] == "on":
            raise LookupError("the mode was asked")
        refuse_as_our_table_does(_)

    conjugate._C.DisableTorchFunction = Guard
    set_module(tvm_ffi(array), "tvm_ffi")
    dlx.attach()


@pytest.mark.parametrize("spoil", ["initializing", "no function", "skipped", "skipped by an older one", "no conj"])
def test_no_warning_if_it_cannot_be_found_out(
    spoil: str, conjugate: Any, set_module: SetModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = set_module(tvm_ffi(lambda tensor: [tensor]), "tvm_ffi")
    if spoil == "initializing":
        module.__spec__ = types.SimpleNamespace(_initializing=True)
    elif spoil == "no function":
        del module.get_global_func
    elif spoil == "skipped":
        monkeypatch.setenv("TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API", "1")
    elif spoil == "skipped by an older one":
        monkeypatch.setattr(_tvm_ffi, "installed", lambda: "0.1.4")
        monkeypatch.setenv("TVM_FFI_SKIP_C_DLPACK_EXCHANGE_API", "1")
    else:
        del conjugate.Tensor.conj
    assert dlx.attach().provider == "dlx"


def test_tvm_ffi_is_not_asked_if_nothing_is_attached(set_module: SetModule, install_variants: InstallVariants) -> None:
    install_variants([])
    table = DLPackExchangeAPI()
    set_module(fake_torch.torch("2.13.0", own_table=_capsule.make_capsule(ctypes.addressof(table)), whole=True))

    def fail(_: Any) -> None:
        raise AssertionError("tvm-ffi was asked")

    set_module(tvm_ffi(fail), "tvm_ffi")
    assert dlx.attach().provider == "upstream"
    assert _attach._warned_too_late is False
