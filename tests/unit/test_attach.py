"""Attaching and detaching: what the class has afterwards, and that a repeated call changes nothing."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _capsule, _selftest

from tests.support import fake_torch, stub
from tests.support.fake_torch import empty_table, table_attributes
from tests.support.installation import entry, matrix

NEW, LEGACY = "__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"
ROW = [entry("2.9", True, "cpu"), entry("2.9", True, "cuda")]
PREFER = [entry("2.13", True, "cpu", "prefer")]

SetModule = Callable[..., Any]
InstallVariants = Callable[..., Path]


def test_attach_puts_a_table_on_the_class(torch: Any) -> None:
    status = dlx.attach()
    assert (status.provider, status.variant, status.backend) == ("dlx", "torch2.9-cxx11-cpu", "cpu")
    held = table_attributes(torch)
    assert type(held[NEW]).__name__ == "PyCapsule"
    assert held[LEGACY] == _capsule.table_address(held[NEW]) != 0
    assert Path(str(status.library)).name == "libdlx_torch_cpu.so"
    assert dlx.status() == status
    assert [type(c.verdict).__name__ for c in status.candidates] == ["Accepted", "Rejected", "Rejected"]


def test_attaching_again_changes_nothing(torch: Any) -> None:
    first = dlx.attach()
    held = table_attributes(torch)
    assert dlx.attach() == dlx.attach(prefer="upstream") == dlx.attach(prefer="dlx") == dlx.attach(strict=True) == first
    assert table_attributes(torch) == held


def test_detach_leaves_nothing_and_attach_comes_back(torch: Any) -> None:
    dlx.attach()
    dlx.detach()
    assert table_attributes(torch) == {}
    status = dlx.status()
    assert status.provider == "none"
    assert "dlx_torch_ext.attach()" in status.reason
    dlx.detach()
    assert dlx.attach().provider == "dlx"


def test_detach_before_attach_does_nothing(torch: Any) -> None:
    dlx.detach()
    assert table_attributes(torch) == {}


def test_status_and_resolve_change_nothing(torch: Any) -> None:
    assert dlx.status().provider == "none"
    resolution = dlx.resolve()
    assert (resolution.provider, resolution.variant) == ("dlx", "torch2.9-cxx11-cpu")
    assert table_attributes(torch) == {}
    assert dlx.resolve(dlx.Facts(torch=None, torch_problem="none at all")).reason == "none at all"


def test_resolve_gives_the_same_result_while_attached(upstream: Any) -> None:
    before = dlx.resolve()
    dlx.attach(prefer="dlx")
    assert dlx.resolve() == before


def test_torchs_own_table_is_left_alone(upstream: Any) -> None:
    held = table_attributes(upstream)
    status = dlx.attach()
    assert (status.provider, status.variant) == ("upstream", None)
    dlx.attach(prefer="upstream", strict=True)
    assert table_attributes(upstream) == held
    assert table_attributes(upstream)[NEW] is held[NEW]
    dlx.detach()
    assert table_attributes(upstream)[NEW] is held[NEW]


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_prefer_dlx_replaces_it_and_detach_restores_it(by: str, upstream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    held = table_attributes(upstream)
    if by == "environment":
        monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
    status = dlx.attach() if by == "environment" else dlx.attach(prefer="dlx")
    assert (status.provider, status.variant) == ("dlx", "torch2.13-cxx11-cpu")
    assert table_attributes(upstream)[NEW] is not held[NEW]
    dlx.detach()
    assert table_attributes(upstream) == held
    assert table_attributes(upstream)[NEW] is held[NEW]


def test_prefer_can_be_changed_again_and_again(upstream: Any) -> None:
    held = table_attributes(upstream)[NEW]
    assert dlx.attach(prefer="dlx").provider == "dlx"
    assert dlx.attach().provider == "dlx", "without a preference the table stays"
    assert dlx.attach(prefer="upstream").provider == "upstream"
    assert table_attributes(upstream) == {NEW: held}


def test_both_attributes_name_our_table_and_both_are_restored(upstream: Any) -> None:
    upstream.Tensor.__c_dlpack_exchange_api__ = 4096
    dlx.attach(prefer="dlx")
    held = table_attributes(upstream)
    assert held[LEGACY] == _capsule.table_address(held[NEW]) != 4096
    dlx.detach()
    assert table_attributes(upstream)[LEGACY] == 4096


def test_an_inherited_table_is_visible_again_after_detach(
    set_module: SetModule, install_variants: InstallVariants
) -> None:
    install_variants(PREFER)
    torch = set_module(fake_torch.torch("2.13.0", whole=True))
    inherited = empty_table()
    torch._C.TensorBase.__dlpack_c_exchange_api__ = inherited
    torch._C._dlpack_exchange_api = lambda: inherited
    assert dlx.attach(prefer="dlx").provider == "dlx"
    assert dlx.resolve().provider == "upstream"
    dlx.detach()
    assert table_attributes(torch) == {}
    assert torch.Tensor.__dlpack_c_exchange_api__ is inherited


@pytest.mark.parametrize("prefer", [None, "upstream"])
def test_a_foreign_table_is_left_alone(prefer: str | None, torch: Any) -> None:
    theirs = empty_table()
    torch.Tensor.__dlpack_c_exchange_api__ = theirs
    status = dlx.attach(prefer=prefer)
    assert status.provider == "foreign"
    assert table_attributes(torch) == {NEW: theirs}


@pytest.mark.parametrize("theirs", [{NEW: empty_table()}, {NEW: empty_table(), LEGACY: 4096}, {LEGACY: 4096}])
@pytest.mark.parametrize("by", ["argument", "environment"])
def test_a_foreign_table_is_replaced_where_asked_to_and_restored(
    by: str, theirs: dict[str, Any], torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in theirs.items():
        setattr(torch.Tensor, name, value)
    if by == "environment":
        monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
    status = dlx.attach() if by == "environment" else dlx.attach(prefer="dlx")
    assert status.provider == "dlx"
    held = table_attributes(torch)
    assert held[LEGACY] == _capsule.table_address(held[NEW])
    dlx.detach()
    assert table_attributes(torch) == theirs


def test_detach_keeps_what_somebody_put_over_our_table(torch: Any) -> None:
    dlx.attach()
    theirs = empty_table()
    torch.Tensor.__dlpack_c_exchange_api__ = theirs
    assert dlx.status().provider == "foreign"
    dlx.detach()
    assert table_attributes(torch) == {NEW: theirs}


def test_a_removed_table_is_reported_and_attached_again(torch: Any) -> None:
    dlx.attach()
    del torch.Tensor.__dlpack_c_exchange_api__
    status = dlx.status()
    assert status.provider == "none"
    assert "is gone" in status.reason
    assert dlx.attach().provider == "dlx"


def test_a_named_library_replaces_any_table(upstream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_LIBRARY", str(stub.compiled("MINOR=13")))
    status = dlx.attach()
    assert (status.provider, status.library) == ("dlx", str(stub.compiled("MINOR=13")))


def test_a_named_library_that_does_not_fit_is_not_used(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_LIBRARY", str(stub.compiled("MINOR=8")))
    status = dlx.attach()
    assert status.variant == "torch2.9-cxx11-cpu"
    assert "built for torch 2.8" in status.candidates[0].verdict.reason


class TestChecks:
    """A candidate that fails a check is rejected with the reason of that check, and not attached."""

    def test_library(self, set_module: SetModule, install_variants: InstallVariants) -> None:
        folder = install_variants(ROW)
        stub.library(folder / "_lib" / ROW[0]["file"], 'BACKEND="rocm"')
        torch = set_module(fake_torch.torch(whole=True))
        status = dlx.attach()
        assert status.provider == "none"
        assert "built for rocm" in status.reason
        assert table_attributes(torch) == {}
        assert dlx.status() == status, "the reason is remembered"

    def test_missing_library(self, set_module: SetModule, install_variants: InstallVariants) -> None:
        install_variants(ROW, libraries=False)
        set_module(fake_torch.torch(whole=True))
        assert "does not exist" in dlx.attach().reason

    def test_layout_comes_before_the_library_is_opened(
        self, set_module: SetModule, install_variants: InstallVariants
    ) -> None:
        install_variants(ROW, libraries=False)
        torch = set_module(fake_torch.torch(whole=True))
        torch.Tensor._cdata = 1
        assert "TensorImpl" in dlx.attach().reason

    def test_selftest(self, torch: Any) -> None:
        torch.fake_export = lambda tensor, out: 0
        status = dlx.attach()
        assert "the self-test failed" in status.reason
        assert table_attributes(torch) == {}
        assert any("self-test" in c.verdict.reason for c in status.candidates)

    def test_a_table_of_ours_is_tested_by_our_rules(self, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[bool] = []

        def problem(torch: Any, table: int, *, ours: bool) -> str:
            asked.append(ours)
            return ""

        monkeypatch.setattr(_selftest, "problem", problem)
        assert dlx.attach().provider == "dlx"
        assert asked == [True]

    def test_upstream_stays_if_ours_fails(self, upstream: Any) -> None:
        held = table_attributes(upstream)[NEW]
        upstream.fake_export = lambda tensor, out: 0
        status = dlx.attach(prefer="dlx")
        assert status.provider == "upstream"
        assert table_attributes(upstream) == {NEW: held}
        assert "self-test" in status.candidates[0].verdict.reason

    def test_upstream_is_used_if_the_overlay_fails(
        self, set_module: SetModule, install_variants: InstallVariants, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.platform", "linux")
        install_variants([entry(None, None, "torch_npu", "overlay")], libraries=False)
        set_module(types.ModuleType("torch_npu"), "torch_npu")
        torch = set_module(fake_torch.torch("2.12.1", own_table=empty_table(), whole=True))
        status = dlx.attach()
        assert status.provider == "upstream"
        assert "does not exist" in status.candidates[0].verdict.reason
        assert list(table_attributes(torch)) == [NEW]


def test_the_overlay_replaces_torchs_own_table(
    set_module: SetModule, install_variants: InstallVariants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    install_variants([entry(None, None, "torch_npu", "overlay")])
    set_module(types.ModuleType("torch_npu"), "torch_npu")
    before = empty_table()
    torch = set_module(fake_torch.torch("2.12.1", own_table=before, whole=True))
    status = dlx.attach()
    assert (status.provider, status.variant, status.backend) == ("overlay", "overlay-torch_npu", "torch_npu")
    dlx.detach()
    assert table_attributes(torch) == {NEW: before}


class TestStrict:
    def test_no_table_raises_in_one_line(self, set_module: SetModule, install_variants: InstallVariants) -> None:
        install_variants(matrix(), libraries=False)
        set_module(fake_torch.torch("2.2.0"))
        with pytest.raises(
            dlx.AttachError, match=r"^torch\.Tensor has no DLPack exchange table: torch 2\.2\.0 is older"
        ):
            dlx.attach(strict=True)
        assert dlx.attach().provider == "none"

    def test_no_torch(self, set_module: SetModule) -> None:
        set_module(None)
        with pytest.raises(dlx.AttachError, match="torch is not installed"):
            dlx.attach(strict=True)

    def test_any_table_is_enough(self, upstream: Any) -> None:
        assert dlx.attach(strict=True).provider == "upstream"


@pytest.mark.parametrize("prefer", ["ours", "", "DLX", 1])
def test_an_unknown_preference_is_a_value_error(prefer: Any) -> None:
    with pytest.raises(ValueError, match='neither "upstream" nor "dlx"'):
        dlx.attach(prefer=prefer)


@pytest.mark.parametrize(
    "torch", [None, fake_torch.torch("2.2.0"), types.ModuleType("torch"), fake_torch.torch("2.9.0a0+git1234567")]
)
def test_every_public_function_works_without_a_usable_torch(torch: Any, set_module: SetModule) -> None:
    set_module(torch)
    assert dlx.attach().provider == dlx.status().provider == dlx.resolve().provider == "none"
    assert dlx.status().reason
    dlx.detach()


def test_disabled(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_DISABLE", "1")
    status = dlx.attach()
    assert status.provider == "none"
    assert "DLX_TORCH_DISABLE" in status.reason
    assert table_attributes(torch) == {}


def test_disabled_beside_torchs_own_table(upstream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLX_TORCH_DISABLE", "1")
    status = dlx.attach(prefer="dlx")
    assert status.provider == "upstream"
    assert "DLX_TORCH_DISABLE" in status.reason
