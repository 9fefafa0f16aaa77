"""What of ours is on torch.Tensor is recognised by whoever looks, and what lies over it is named as what it is."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _attach, _autoload, _capsule, _dlpack, _installed
from dlx_torch_ext._cli.findings import findings
from dlx_torch_ext._ids import with_ids

from tests.support import stub
from tests.support.fake_torch import empty_table, table_attributes
from tests.support.installation import entry

NEW = "__dlpack_c_exchange_api__"


def reload_one_module() -> Any:
    importlib.reload(_installed)
    importlib.reload(_attach)
    return dlx


def drop_the_modules() -> Any:
    for name in [name for name in sys.modules if name.partition(".")[0] == "dlx_torch_ext"]:
        del sys.modules[name]
    again = importlib.import_module("dlx_torch_ext")
    again.__path__ = dlx.__path__  # the installation of this test
    return again


@pytest.fixture
def _modules_as_before() -> Iterator[None]:
    held: dict[str, ModuleType] = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == "dlx_torch_ext"}
    yield
    sys.modules.update(held)


@pytest.mark.usefixtures("_modules_as_before")
@pytest.mark.parametrize("again", [reload_one_module, drop_the_modules])
class TestAfterAReload:
    def test_the_table_is_still_ours(self, again: Callable[[], Any], torch: Any) -> None:
        before = dlx.attach()
        held = table_attributes(torch)
        ours = again()
        status = ours.status()
        assert (status.provider, status.variant, status.library) == ("dlx", before.variant, before.library)
        assert status.reason == before.reason
        assert ours.attach().provider == ours.attach(prefer="dlx").provider == "dlx"
        assert table_attributes(torch) == held
        ours.detach()
        assert table_attributes(torch) == {}

    def test_what_was_there_comes_back(self, again: Callable[[], Any], upstream: Any) -> None:
        held = table_attributes(upstream)
        dlx.attach(prefer="dlx")
        ours = again()
        assert ours.resolve().provider == "upstream"
        ours.detach()
        assert table_attributes(upstream) == held


@pytest.mark.parametrize("value", [None, (), "record", ("dlx-torch-ext 99", 1), {"format": 2}])
def test_a_record_that_is_none_of_ours_is_ignored(value: object, torch: Any) -> None:
    torch.Tensor.__dlx_torch_ext__ = value
    assert dlx.status().provider == "none"
    assert dlx.attach().provider == "dlx"
    dlx.detach()
    assert table_attributes(torch) == {}


def test_detach_leaves_no_attribute(torch: Any) -> None:
    before = dict(vars(torch.Tensor))
    dlx.attach()
    assert vars(torch.Tensor) != before
    dlx.detach()
    assert dict(vars(torch.Tensor)) == before


class TestATableOverOurs:
    """Packages copy the table that they find, replace a function, and put the copy in its place."""

    @staticmethod
    def copy_with(torch: Any, **functions: int) -> Any:
        theirs = _dlpack.DLPackExchangeAPI.from_buffer_copy(
            _dlpack.DLPackExchangeAPI.from_address(_capsule.table_address(getattr(torch.Tensor, NEW)))
        )
        for name, address in functions.items():
            setattr(theirs, name, address)
        torch.Tensor.__dlpack_c_exchange_api__ = _capsule.make_capsule(ctypes.addressof(theirs))
        return theirs

    def test_status_says_whose_stream_and_whose_other_functions(self, torch: Any) -> None:
        ours = dlx.attach()
        other = ctypes.PyDLL(str(stub.compiled("MINOR=8")))
        address = ctypes.cast(other.dlx_torch_exchange_api, ctypes.c_void_p).value or 0
        kept = self.copy_with(torch, current_work_stream=address)
        status = dlx.status()
        assert (status.provider, status.variant) == ("foreign", None)
        assert f"its current_work_stream from {stub.compiled('MINOR=8')}" in status.reason
        assert f"the other functions from dlx-torch-ext ({ours.library})" in status.reason
        assert 'attach(prefer="dlx")' in status.reason
        (finding,) = findings(status, _attach.facts_without_ours(torch, ""))
        assert with_ids(finding) == finding == status.reason
        assert status.reason.endswith(" [DLX076]")
        del kept

    def test_a_function_of_no_library(self, torch: Any) -> None:
        dlx.attach()
        callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
        kept = self.copy_with(torch, current_work_stream=ctypes.cast(callback, ctypes.c_void_p).value or 0)
        assert "its current_work_stream from an unknown library" in dlx.status().reason
        del kept

    def test_what_the_reason_advises_helps(self, torch: Any) -> None:
        dlx.attach()
        kept = self.copy_with(torch)
        theirs = vars(torch.Tensor)[NEW]
        assert dlx.attach().provider == "foreign"
        assert dlx.attach(prefer="dlx").provider == "dlx"
        dlx.detach()
        assert vars(torch.Tensor)[NEW] is theirs
        del kept


def test_a_table_over_ours_does_not_make_attach_forget_ours(torch: Any) -> None:
    dlx.attach()
    torch.Tensor.__dlpack_c_exchange_api__ = empty_table()
    assert dlx.attach().provider == "foreign"
    dlx.detach()
    assert list(table_attributes(torch)) == [NEW]
    assert not hasattr(torch.Tensor, _installed.RECORD_ATTRIBUTE)


class TestALaterAttachThatFails:
    """A table of ours that works stays, whatever has become of its installation."""

    def test_the_library_is_gone(self, torch: Any) -> None:
        first = dlx.attach()
        held = table_attributes(torch)
        Path(str(first.library)).unlink()
        for status in (dlx.attach(prefer="dlx", strict=True), dlx.status()):
            assert (status.provider, status.library) == ("dlx", first.library)
            assert "it stays" in status.reason
            assert "does not exist" in status.reason
        assert table_attributes(torch) == held

    def test_the_self_test_fails(self, torch: Any) -> None:
        dlx.attach()
        held = table_attributes(torch)
        torch.fake_export = lambda tensor, out: 0
        assert dlx.attach(prefer="dlx").provider == "dlx"
        assert table_attributes(torch) == held

    def test_the_installation_is_gone(self, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        dlx.attach()
        monkeypatch.setattr(dlx, "__path__", [])
        assert dlx.attach(prefer="dlx", strict=True).provider == "dlx"

    def test_torchs_own_table_comes_back_only_if_it_was_asked_for(self, upstream: Any) -> None:
        held = table_attributes(upstream)
        dlx.attach(prefer="dlx")
        upstream.fake_export = lambda tensor, out: 0
        assert dlx.attach(prefer="dlx").provider == "upstream", "what cannot be trusted any more gives way to torch's"
        assert table_attributes(upstream) == held


class TestANamedLibrary:
    """DLX_TORCH_LIBRARY that cannot be used heads the reason, and is an error where the caller is strict."""

    @pytest.mark.parametrize("path", ["/nope.so", str(stub.compiled("MINOR=8"))])
    def test_it_heads_the_reason(self, path: str, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_LIBRARY", path)
        status = dlx.attach()
        assert status.provider == "dlx"
        assert status.reason.startswith(f"DLX_TORCH_LIBRARY is not followed: {path} ")
        assert "; torch2.9-cxx11-cpu fits torch 2.9.1+cpu [DLX074, " in status.reason
        with pytest.raises(dlx.AttachError, match=r"^DLX_TORCH_LIBRARY is not followed: .*\.so "):
            dlx.attach(strict=True)
        assert dlx.status() == status

    def test_also_where_it_was_tried_at_import(self, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_LIBRARY", "/nope.so")
        _autoload.autoload()
        assert dlx.status().provider == "dlx"
        with pytest.raises(dlx.AttachError, match="/nope"):
            dlx.attach(strict=True)

    @pytest.mark.parametrize("rows", [[entry("2.9", True, "cpu")], [entry("2.8", True, "cpu")], []])
    def test_without_any_table_it_is_said_once(
        self, rows: list[Any], torch: Any, install_variants: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whether a library of the installation fails after it, or none is left to be tried."""
        install_variants(rows, libraries=False)
        torch.fake_export = lambda tensor, out: 0
        monkeypatch.setenv("DLX_TORCH_LIBRARY", "/nope.so")
        status = dlx.attach()
        assert status.provider == "none"
        assert status.reason.startswith("DLX_TORCH_LIBRARY is not followed: /nope.so does not exist")
        assert status.reason.count("/nope.so") == status.reason.count("[DLX") == 1

    def test_one_that_is_used_is_no_error(self, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_LIBRARY", str(stub.compiled()))
        assert dlx.attach(strict=True).library == str(stub.compiled())
