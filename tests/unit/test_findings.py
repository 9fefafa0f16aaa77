"""What the doctor warns of under its verdict, and what it does not warn of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from dlx_torch_ext import _api, _attach, _autoload, _facts, _release, _tvm_ffi
from dlx_torch_ext._cli import findings as module
from dlx_torch_ext._cli import wrong_tables

from tests.support import fake_torch
from tests.support.command import report
from tests.support.installation import Site, entry


def findings() -> list[str]:
    """The warnings after what `import torch` would have done in this process."""
    torch, problem = _facts.import_torch()
    _autoload.autoload()
    return list(module.findings(_api.status(), _attach.facts_without_ours(torch, problem)))


@pytest.mark.usefixtures("torch")
class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("DLX_TORCH_PREFER", "upstream"),
            ("DLX_TORCH_PREFER", "dlx"),
            ("DLX_TORCH_PREFER", ""),
            ("DLX_TORCH_AUTOLOAD", "Yes"),
            ("DLX_TORCH_NPU_DRAIN", "off"),
            ("DLX_TORCH_NPU_DRAIN", ""),
            ("DLX_TORCH_NPU_DEVICE_TYPE", "ascend"),
            ("DLX_TORCH_CACHE_DIR", "/not/there/yet"),
            # Of the build, and of this project's tests.
            ("DLX_TORCH_BUILD_NATIVE", "1"),
            ("DLX_TORCH_ROWS", "all"),
            ("DLX_TORCH_BACKENDS", "cpu"),
            ("DLX_TORCH_SDK_DIR", "/sdk"),
            ("DLX_TORCH_DIR", "/torch"),
            ("DLX_TORCH_TEST_STUBS", "/stubs"),
            ("DLX_DEV_DIR", "/dev-dir"),
            ("DLX_TEST_TABLE", "dlx"),
        ],
    )
    def test_known_ones_are_no_finding(self, name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(name, value)
        assert findings() == []

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("DLX_TORCH_PREFER", "upsteam", ["DLX_TORCH_PREFER=upsteam is neither", "did you mean upstream?"]),
            ("DLX_TORCH_PREFER", "dxl", ["DLX_TORCH_PREFER=dxl is neither", "did you mean dlx?"]),
            ("DLX_TORCH_DISABL", "1", ["DLX_TORCH_DISABL=1 is ignored", "did you mean DLX_TORCH_DISABLE?"]),
            ("DLX_TORCH_CACHEDIR", "/x", ["DLX_TORCH_CACHEDIR=/x is ignored", "did you mean DLX_TORCH_CACHE_DIR?"]),
            ("dlx_torch_prefer", "dlx", ["dlx_torch_prefer=dlx is ignored", "did you mean DLX_TORCH_PREFER?"]),
            ("DLX_TORCH_AUTOLOAD", "offf", ["DLX_TORCH_AUTOLOAD=offf counts as on"]),
            ("DLX_TORCH_NPU_DEVICE_TYPE", "ascent", ["DEVICE_TYPE=ascent is neither", "did you mean ascend?"]),
            ("DLX_TORCH_NPU_DRAIN", "never", ["DLX_TORCH_NPU_DRAIN=never counts as on"]),
        ],
    )
    def test_a_wrong_one_is(self, name: str, value: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(name, value)
        (finding,) = findings()
        assert all(word in finding for word in words), finding

    @pytest.mark.parametrize(("name", "value"), [("DLX_TORCH_QQQ", "1"), ("DLX_TORCH_PREFER", "qqq")])
    def test_what_resembles_nothing_gets_no_suggestion(
        self, name: str, value: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(name, value)
        (finding,) = findings()
        assert "did you mean" not in finding

    def test_a_library_that_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_LIBRARY", "/nope.so")
        (finding,) = findings()
        assert finding.startswith("DLX_TORCH_LIBRARY is not followed: /nope.so does not exist")

    def test_a_library_that_was_not_tried_and_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_LIBRARY", "/nope.so")
        monkeypatch.setenv("DLX_TORCH_DISABLE", "1")
        assert findings() == ["DLX_TORCH_LIBRARY=/nope.so does not exist: correct it, or unset it"]

    def test_a_library_that_is_no_library(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "text.so").write_text("no library")
        monkeypatch.setenv("DLX_TORCH_LIBRARY", str(tmp_path / "text.so"))
        (finding,) = findings()
        assert finding.startswith(f"DLX_TORCH_LIBRARY is not followed: {tmp_path / 'text.so'}")

    def test_the_verdict_is_not_repeated(
        self, install_variants: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install_variants([entry("2.8", True, "cpu")])
        monkeypatch.setenv("DLX_TORCH_LIBRARY", "/nope.so")
        assert findings() == []
        assert "/nope.so does not exist" in _api.status().reason


class TestPreference:
    def test_that_is_followed(self, upstream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
        assert findings() == []
        assert _api.status().provider == "dlx"

    def test_no_library_of_ours_fits(
        self, upstream: Any, install_variants: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install_variants([entry("2.12", True, "cpu", "prefer")])
        monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
        (finding,) = findings()
        assert finding.startswith("DLX_TORCH_PREFER=dlx is not followed: no library for torch 2.13")

    def test_another_package_was_first(
        self, set_module: Callable[..., Any], install_variants: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install_variants([entry("2.9", True, "cpu")])
        set_module(fake_torch.torch_with_own_table("2.9.1", foreign=True))
        monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
        assert findings() == []
        assert _api.status().provider == "dlx"

    def test_another_package_was_first_and_nobody_prefers_ours(
        self, set_module: Callable[..., Any], install_variants: Callable[..., Path]
    ) -> None:
        install_variants([entry("2.9", True, "cpu")])
        set_module(fake_torch.torch_with_own_table("2.9.1", foreign=True))
        assert findings() == []
        assert _api.status().reason.endswith('set DLX_TORCH_PREFER=dlx, or call dlx_torch_ext.attach(prefer="dlx")')


def test_a_library_that_fits_and_fails(
    upstream: Any, install_variants: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's own table stays, so the verdict does not say why ours was not taken."""
    folder = install_variants([entry("2.13", True, "cpu", "prefer")])
    (library,) = (folder / "_lib" / "torch2_13_cxx11").iterdir()
    library.write_bytes(library.read_bytes()[:1000])
    monkeypatch.setenv("DLX_TORCH_PREFER", "dlx")
    (finding,) = findings()
    assert finding.startswith(f"torch2.13-cxx11-cpu fits and cannot be used: {library} is truncated")


@pytest.mark.parametrize(("torch", "warned"), [("2.12.1", True), ("2.13.0", False)])
def test_torch_npu_without_an_overlay(torch: str, warned: bool, tmp_path: Path) -> None:
    """Until 2.13, torch's own table answers NULL for the stream of an NPU."""
    site = Site(tmp_path, [entry("2.9", True, "cpu")], f"fake_torch.torch_with_own_table('{torch}')")
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu" / "__init__.py").touch()
    _, found = report(site)
    assert any("kernels run on the default stream" in finding for finding in found["findings"]) == warned


def known_to_be_wrong(**facts: Any) -> list[str]:
    return list(wrong_tables.warnings(_facts.Facts(release=_release.parse(facts["torch"]), **facts)))


HERE: dict[str, dict[str, Any]] = {
    "torch_npu": {"torch_npu": "2.12.0", "system": "linux", "machine": "aarch64"},
    "xpu": {"backend": "xpu", "system": "linux", "machine": "x86_64"},
    "mps": {"system": "macos", "machine": "arm64"},
    "cpu": {"system": "linux", "machine": "x86_64"},
    "cuda": {"backend": "cuda", "system": "linux", "machine": "x86_64"},
}
# The release lines in which torch's own table is wrong there.
WRONG_IN = {"torch_npu": ("2.10", "2.11", "2.12"), "xpu": ("2.10", "2.11", "2.12"), "mps": ("2.13",)}


@pytest.mark.parametrize("here", HERE)
@pytest.mark.parametrize("line", ["2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "3.0"])
@pytest.mark.parametrize("suffix", [".0", ".1+local"])
def test_tables_that_are_known_to_be_wrong(here: str, line: str, suffix: str) -> None:
    found = known_to_be_wrong(torch=line + suffix, **HERE[here])
    assert len(found) == (line in WRONG_IN.get(here, ())), found
    assert all(": " in one and "torch's own table answers" in one for one in found)


def test_nothing_is_known_of_a_torch_without_a_version() -> None:
    assert known_to_be_wrong(torch="unknown", **HERE["xpu"]) == []


def test_the_list_is_whole_and_its_ranges_hold_something() -> None:
    assert {wrong.accelerator for wrong in wrong_tables.WRONG} == set(WRONG_IN)
    for wrong in wrong_tables.WRONG:
        assert wrong.first < wrong.fixed
        assert all((wrong.what, wrong.remedy, wrong.evidence))


@pytest.mark.usefixtures("torch")
class TestTvmFfi:
    """The switches of the tvm-ffi that is installed. Which release reads which: tests/integration/test_tvm_ffi.py."""

    OLDER, NEWER = "TVM_FFI_SKIP_C_DLPACK_EXCHANGE_API", "TVM_FFI_SKIP_DLPACK_C_EXCHANGE_API"
    DISABLE = "TVM_FFI_DISABLE_TORCH_C_DLPACK"

    @pytest.fixture(autouse=True)
    def _switches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (self.OLDER, self.NEWER, self.DISABLE):
            monkeypatch.delenv(name, raising=False)

    @pytest.mark.parametrize(
        ("version", "name"),
        [("0.1.2", OLDER), ("0.1.4", OLDER), ("0.1.5", NEWER), ("0.1.15.post2", NEWER), ("1.0", NEWER), ("x", NEWER)],
    )
    def test_the_one_that_this_release_reads(self, version: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_tvm_ffi, "installed", lambda: version)
        (other,) = {self.OLDER, self.NEWER} - {name}
        monkeypatch.setenv(other, "1")
        assert findings() == []
        monkeypatch.setenv(name, "1")
        (finding,) = findings()
        assert finding.startswith(f"{name}=1 makes tvm-ffi {version} ignore every table: ")
        assert finding.endswith(": unset it")

    @pytest.mark.parametrize("value", ["", "0", "2", "true"])
    def test_only_the_value_1_counts(self, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_tvm_ffi, "installed", lambda: "0.1.15")
        monkeypatch.setenv(self.NEWER, value)
        assert findings() == []

    def test_nothing_where_no_tvm_ffi_is_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.path", [])
        monkeypatch.setenv(self.NEWER, "1")
        monkeypatch.setenv(self.DISABLE, "1")
        monkeypatch.setenv("DLX_TORCH_DISABLE", "1")
        assert findings() == []

    @pytest.mark.parametrize(("value", "counts"), [("1", True), ("false", True), ("", True), ("0", False)])
    def test_the_one_for_its_own_table_matters_where_there_is_none(
        self, value: str, counts: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_tvm_ffi, "installed", lambda: "0.1.15")
        monkeypatch.setenv(self.DISABLE, value)
        assert findings() == []
        monkeypatch.setenv("DLX_TORCH_DISABLE", "1")
        _attach.detach()
        expected = f"{self.DISABLE}={value} keeps tvm-ffi 0.1.15 from bringing a table of its own: unset it"
        assert findings() == ([expected] if counts else [])
