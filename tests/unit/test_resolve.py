"""Every case of the decision, and which library fits which torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _resolve
from dlx_torch_ext._facts import Table
from dlx_torch_ext._resolve import Accepted, Rejected, Resolution
from dlx_torch_ext._settings import Settings
from dlx_torch_ext._variants import Manifest, Variant, read_manifest

from tests.support import installation
from tests.support.installation import facts, matrix

UPSTREAM = Table("upstream", 64, "/torch/lib/libtorch_python.so")
FOREIGN = Table("foreign", 64, "/site/libtorch_c_dlpack_addon_torch29-cuda.so")
NPU = {"torch_npu": "2.9.0", "system": "linux", "machine": "x86_64"}
LINUX = "linux-x86_64"


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return read_manifest([str(installation.write_manifest(tmp_path, matrix()))])


def everything(*extra: str) -> Manifest:
    """A manifest for Linux with two rows for every backend, and with the overlay if `extra` names it."""
    backends = ("cpu", "cuda", "rocm", "torch_npu")
    variants = [Variant("2.9", True, backend, "default", f"/{backend}.so") for backend in backends]
    variants += [Variant("2.13", True, backend, "prefer", f"/new-{backend}.so") for backend in backends]
    if "overlay" in extra:
        variants.append(Variant(None, None, "torch_npu", "overlay", "/overlay.so"))
    return Manifest(tuple(variants), LINUX, "0.1.0")


def linux(**changes: Any) -> Any:
    return facts(**{"system": "linux", "machine": "x86_64", **changes})


def reasons(resolution: Resolution) -> dict[str, str]:
    return {c.name: c.verdict.reason for c in resolution.candidates if isinstance(c.verdict, Rejected)}


class TestNothingToDecide:
    """DLX_TORCH_DISABLE=1, or torch older than 2.4: none."""

    @pytest.mark.parametrize("table", [None, UPSTREAM, FOREIGN])
    def test_disabled(self, table: Table | None, manifest: Manifest) -> None:
        settings = Settings(disable=True, library="/some.so", prefer="dlx")
        resolution = _resolve.resolve(facts(settings=settings, table=table), manifest)
        assert (resolution.provider, resolution.candidates) == ("none", ())
        assert "DLX_TORCH_DISABLE" in resolution.reason

    @pytest.mark.parametrize("version", ["2.3.1", "2.2.0+cu121", "1.13.1", "2.3.0a0+git1234567"])
    @pytest.mark.parametrize("library", ["", "/some.so"])
    def test_older_than_2_4(self, version: str, library: str, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch=version, settings=Settings(library=library)), manifest)
        assert resolution.provider == "none"
        assert version in resolution.reason
        assert "upgrade torch" in resolution.reason

    def test_no_torch(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch=None, torch_problem="torch is not installed"), manifest)
        assert (resolution.provider, resolution.reason) == ("none", "torch is not installed")

    def test_not_cpython(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(implementation="pypy"), manifest)
        assert resolution.provider == "none"
        assert "pypy" in resolution.reason


class TestNamedLibrary:
    """DLX_TORCH_LIBRARY names a library: that one comes first, and is checked like any other."""

    @pytest.mark.parametrize("table", [None, UPSTREAM, FOREIGN])
    @pytest.mark.parametrize("version", ["2.9.1", "2.9.0a0+git1234567"])
    def test_it_comes_first(self, table: Table | None, version: str, manifest: Manifest) -> None:
        named = facts(torch=version, table=table, settings=Settings(library="/some.so"))
        resolution = _resolve.resolve(named, manifest)
        assert (resolution.provider, resolution.library, resolution.backend) == ("dlx", "/some.so", "cpu")

    def test_it_comes_before_the_overlay(self) -> None:
        named = linux(**NPU, torch="2.13.0", table=UPSTREAM, settings=Settings(library="/some.so"))
        assert _resolve.resolve(named, everything("overlay")).library == "/some.so"

    def test_it_must_be_for_the_backend_of_this_torch(self) -> None:
        named = linux(backend="cuda", settings=Settings(library="/some.so"))
        assert _resolve.resolve(named, everything()).backend == "cuda"

    @pytest.mark.parametrize("unknown", [{"torch": "unknown"}, {"cxx11_abi": None}])
    def test_a_torch_without_version_or_abi_does_not_get_it(self, unknown: dict[str, Any], manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(**unknown, settings=Settings(library="/some.so")), manifest)
        assert resolution.provider == "none"
        assert "this torch does not say its" in reasons(resolution)["DLX_TORCH_LIBRARY"]
        assert "unset DLX_TORCH_LIBRARY" in reasons(resolution)["DLX_TORCH_LIBRARY"]


class TestOwnTableWithNpu:
    """torch has a table of its own, and torch_npu is installed on Linux: the overlay."""

    def test_overlay(self) -> None:
        resolution = _resolve.resolve(linux(**NPU, torch="2.12.1", table=UPSTREAM), everything("overlay"))
        assert (resolution.provider, resolution.variant) == ("overlay", "overlay-torch_npu")
        assert (resolution.backend, resolution.library) == ("torch_npu", "/overlay.so")
        assert [c.provider for c in resolution.accepted] == ["overlay", "upstream"], "upstream, should the overlay fail"

    def test_an_unreleased_torch_gets_the_overlay_too(self) -> None:
        resolution = _resolve.resolve(linux(**NPU, torch="2.14.0.dev20260101", table=UPSTREAM), everything("overlay"))
        assert resolution.provider == "overlay"

    def test_without_an_overlay_it_is_upstream_with_a_reason(self) -> None:
        resolution = _resolve.resolve(linux(**NPU, torch="2.12.1", table=UPSTREAM), everything())
        assert resolution.provider == "upstream"
        assert "no overlay" in reasons(resolution)["overlay-torch_npu"]

    @pytest.mark.parametrize("platform", ["linux-aarch64", "windows-x64"])
    def test_not_that_of_another_platform(self, platform: str) -> None:
        manifest = everything("overlay").replace(platform=platform)
        assert _resolve.resolve(linux(**NPU, torch="2.12.1", table=UPSTREAM), manifest).provider == "upstream"

    @pytest.mark.parametrize("system", ["macos", "windows"])
    def test_never_outside_linux(self, system: str) -> None:
        other = facts(torch="2.12.1", torch_npu="2.12.0", system=system, machine="arm64", table=UPSTREAM)
        resolution = _resolve.resolve(other, everything("overlay"))
        assert resolution.provider == "upstream"
        assert "overlay" not in {c.provider for c in resolution.candidates}

    def test_a_table_of_torch_npu_is_named_and_left_alone(self) -> None:
        table = Table("foreign", 64, "/site/torch_npu/lib/libtorch_npu.so")
        resolution = _resolve.resolve(linux(**NPU, torch="2.12.1", table=table), everything("overlay"))
        assert resolution.provider == "foreign"
        assert resolution.reason.startswith(f"torch_npu has put its table on torch.Tensor ({table.library})")
        others = [table.replace(provider="upstream"), FOREIGN, table.replace(library=None)]
        assert [other.of_torch_npu for other in (table, *others)] == [True, False, False, False]

    def test_no_device_is_asked(self) -> None:
        def ask() -> bool:
            raise AssertionError("a device was asked")

        npu = linux(**NPU, torch="2.12.1", backend="cuda", table=UPSTREAM, cuda_active=ask)
        assert _resolve.resolve(npu, everything("overlay")).provider == "overlay"


class TestOwnTable:
    """torch has a table of its own: upstream; with prefer="dlx" our variant, if one fits."""

    @pytest.mark.parametrize("version", ["2.10.0", "2.13.0+cpu", "2.14.0.dev20260101", "2.16.0", "unknown"])
    def test_upstream(self, version: str, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch=version, table=UPSTREAM), manifest)
        assert (resolution.provider, resolution.variant) == ("upstream", None)
        assert resolution.library == UPSTREAM.library
        assert resolution.accepted[1:] == ()

    def test_the_rejected_variant_says_how_to_get_it(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.13.0", table=UPSTREAM), manifest)
        assert 'prefer="dlx"' in reasons(resolution)["torch2.13-cxx11-cpu"]

    def test_our_variant_with_prefer_dlx(self, manifest: Manifest) -> None:
        wish = facts(torch="2.13.0", table=UPSTREAM, settings=Settings(prefer="dlx"))
        resolution = _resolve.resolve(wish, manifest)
        assert (resolution.provider, resolution.variant) == ("dlx", "torch2.13-cxx11-cpu")
        assert [c.provider for c in resolution.accepted] == ["dlx", "upstream"], "upstream, should ours fail"

    @pytest.mark.parametrize("version", ["2.12.1", "2.13.0a0+git1234567"])
    def test_upstream_if_none_of_ours_fits(self, version: str, manifest: Manifest) -> None:
        wish = facts(torch=version, table=UPSTREAM, settings=Settings(prefer="dlx"))
        assert _resolve.resolve(wish, manifest).provider == "upstream"


class TestForeignTable:
    """Another package's table is on torch.Tensor: it is left alone, unless ours is preferred."""

    def test_left_alone(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(table=FOREIGN), manifest)
        assert (resolution.provider, resolution.library) == ("foreign", FOREIGN.library)
        assert str(FOREIGN.library) in resolution.reason
        assert "DLX_TORCH_PREFER=dlx" in resolution.reason
        assert "another package's table comes first" in reasons(resolution)["torch2.9-cxx11-cpu"]
        assert all(c.provider == "foreign" for c in resolution.accepted)

    def test_replaced_where_asked_to(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(table=FOREIGN, settings=Settings(prefer="dlx")), manifest)
        assert (resolution.provider, resolution.variant) == ("dlx", "torch2.9-cxx11-cpu")
        assert [c.provider for c in resolution.accepted] == ["dlx", "foreign"], "theirs, should ours fail"

    def test_left_alone_if_none_of_ours_fits(self, manifest: Manifest) -> None:
        wish = facts(torch="2.9.0a0+git1234567", table=FOREIGN, settings=Settings(prefer="dlx"))
        assert _resolve.resolve(wish, manifest).provider == "foreign"

    def test_in_an_unknown_library(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(table=Table("foreign", 0)), manifest)
        assert resolution.provider == "foreign"
        assert "its library is unknown" in resolution.reason

    def test_the_overlay_is_for_torchs_own_table_only(self) -> None:
        assert _resolve.resolve(linux(**NPU, table=FOREIGN), everything("overlay")).provider == "foreign"


class TestRows:
    """No table, a release, and a row for its line, C++ ABI and platform: the row's variant for the backend of torch."""

    @pytest.mark.parametrize(
        ("version", "abi", "backend", "variant"),
        [
            ("2.4.1", False, "cpu", "torch2.4-cxx98-cpu"),
            ("2.5.1+cu124", False, "cuda", "torch2.5-cxx98-cuda"),
            ("2.5.1", True, "cuda", "torch2.5-cxx11-cuda"),
            ("2.6.0+cu126", True, "cuda", "torch2.6-cxx11-cuda"),
            ("2.6.0+cu124", False, "cuda", "torch2.6-cxx98-cuda"),
            ("2.9.0", True, "cpu", "torch2.9-cxx11-cpu"),
            ("2.9.1+cpu", True, "cpu", "torch2.9-cxx11-cpu"),
        ],
    )
    def test_by_release_abi_and_build(
        self, version: str, abi: bool, backend: str, variant: str, manifest: Manifest
    ) -> None:
        resolution = _resolve.resolve(facts(torch=version, cxx11_abi=abi, backend=backend), manifest)
        assert (resolution.provider, resolution.variant, resolution.backend) == ("dlx", variant, backend)
        assert [c.name for c in resolution.accepted] == [variant]
        assert len(resolution.candidates) == len(manifest.variants) + 1, "every candidate leaves its reason"

    def test_the_other_abi_is_rejected(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.9.1", cxx11_abi=False), manifest)
        assert resolution.provider == "none"
        assert "C++ ABI 1, this torch has 0" in reasons(resolution)["torch2.9-cxx11-cpu"]
        assert "torch 2.9 with C++ ABI 0" in resolution.reason

    def test_an_unknown_abi_is_rejected(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(cxx11_abi=None), manifest)
        assert resolution.provider == "none"
        assert "C++ ABI" in resolution.reason

    @pytest.mark.parametrize(
        "version", ["2.9.0a0+50eac811a6.nv25.09", "2.9.0.dev20250804+cu128", "2.9.1+gitd38164a", "2.9.0rc1", "unknown"]
    )
    def test_a_version_that_is_not_a_release_is_rejected(self, version: str, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch=version), manifest)
        assert resolution.provider == "none"
        assert version in resolution.reason
        assert "no library was built here for exactly this torch: run `dlx-torch build`" in resolution.reason
        assert version in reasons(resolution)["torch2.9-cxx11-cpu"]

    def test_a_row_that_is_not_in_the_installation(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.99.0"), manifest)
        assert resolution.provider == "none"
        assert "2.99" in resolution.reason
        assert "2.4 (C++ ABI 0)" in resolution.reason
        assert "upgrade dlx-torch-ext" in resolution.reason

    def test_a_backend_that_is_not_in_the_installation(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.9.1+rocm6.4", backend="rocm"), manifest)
        assert resolution.provider == "none"
        assert "no rocm library for torch 2.9" in resolution.reason

    def test_another_platform(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(system="linux", machine="riscv64"), manifest)
        assert resolution.provider == "none"
        assert "linux-riscv64" in resolution.reason

    def test_a_prefer_row_is_not_used_by_default(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.13.0"), manifest)
        assert resolution.provider == "none"
        assert 'prefer="dlx"' in resolution.reason
        assert _resolve.resolve(facts(torch="2.13.0", settings=Settings(prefer="dlx")), manifest).provider == "dlx"

    def test_an_installation_without_libraries_says_how_to_get_them(self, tmp_path: Path) -> None:
        resolution = _resolve.resolve(facts(), read_manifest([str(tmp_path)]))
        assert resolution.provider == "none"
        assert "DLX_TORCH_BUILD_NATIVE=1" in resolution.reason

    @pytest.mark.parametrize("serves", ["default", "overlay"])
    def test_a_manifest_without_rows(self, serves: str) -> None:
        variants = () if serves == "default" else (Variant(None, None, "torch_npu", "overlay", "/overlay.so"),)
        resolution = _resolve.resolve(linux(), Manifest(variants, LINUX, "0.1.0"))
        assert resolution.provider == "none"
        assert "which has libraries for no torch" in resolution.reason


class TestBackend:
    """Which backend is used: the one that torch was built for, or torch_npu if it is installed on Linux."""

    @pytest.mark.parametrize("backend", ["cpu", "cuda", "rocm"])
    def test_the_builds_own(self, backend: str) -> None:
        assert _resolve.resolve(linux(backend=backend), everything()).backend == backend

    def test_a_cuda_build_takes_cuda_whether_or_not_a_device_is_visible(self) -> None:
        def ask() -> bool:
            raise AssertionError("a device was asked")

        assert _resolve.resolve(linux(backend="cuda", cuda_active=ask), everything()).backend == "cuda"

    @pytest.mark.parametrize("backend", ["cuda", "rocm", "xpu"])
    def test_an_accelerator_build_never_gets_the_cpu_library(self, backend: str) -> None:
        only_cpu = Manifest((Variant("2.9", True, "cpu", "default", "/cpu.so"),), LINUX, "0.1.0")
        resolution = _resolve.resolve(linux(backend=backend), only_cpu)
        assert resolution.provider == "none"
        assert "kernels could read data too early" in reasons(resolution)["torch2.9-cxx11-cpu"]

    def test_torch_npu_by_what_is_installed(self) -> None:
        assert _resolve.resolve(linux(**NPU), everything()).variant == "torch2.9-cxx11-torch_npu"

    def test_torch_npu_never_gets_the_cpu_library(self) -> None:
        only_cpu = Manifest((Variant("2.9", True, "cpu", "default", "/cpu.so"),), LINUX, "0.1.0")
        resolution = _resolve.resolve(linux(**NPU), only_cpu)
        assert resolution.provider == "none"
        assert "no torch_npu library" in resolution.reason

    @pytest.mark.parametrize("system", ["macos", "windows"])
    def test_never_torch_npu_outside_linux(self, system: str) -> None:
        manifest = everything().replace(platform=f"{system}-arm64")
        here = facts(torch_npu="2.9.0", system=system, machine="arm64")
        assert _resolve.resolve(here, manifest).backend == "cpu"

    @pytest.mark.parametrize("backend", ["cuda", "rocm"])
    @pytest.mark.parametrize("active", [True, False])
    def test_cuda_and_rocm_keep_priority_where_they_are_active(self, backend: str, active: bool) -> None:
        both = linux(**NPU, backend=backend, cuda_active=lambda: active)
        assert _resolve.resolve(both, everything()).backend == (backend if active else "torch_npu")

    def test_on_other_systems_no_device_is_asked(self) -> None:
        def ask() -> bool:
            raise AssertionError("a device was asked")

        here = facts(torch_npu="2.9.0", system="windows", machine="x64", backend="cuda", cuda_active=ask)
        manifest = everything().replace(platform="windows-x64")
        assert _resolve.resolve(here, manifest).backend == "cuda"


class TestBuiltHere:
    """No table and no row: a library that the user has built for exactly this torch, else none."""

    BUILT = Variant("2.9", True, "cpu", "default", "/cache/own.so")

    def test_none_was_built(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.9.0a0+git1234567"), manifest)
        assert "no cpu library was built here for exactly this torch" in reasons(resolution)["built here"]

    def test_it_is_used_if_no_row_fits(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(torch="2.9.0a0+git1234567"), manifest, [self.BUILT])
        assert (resolution.provider, resolution.library) == ("dlx", "/cache/own.so")

    def test_a_row_comes_first(self, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(), manifest, [self.BUILT])
        assert [c.library == "/cache/own.so" for c in resolution.accepted] == [False, True]

    @pytest.mark.parametrize(("here", "built"), [("cpu", "cuda"), ("cuda", "cpu"), ("rocm", "cuda"), ("cuda", "rocm")])
    def test_one_for_another_backend_does_not(self, here: str, built: str, manifest: Manifest) -> None:
        situation = facts(torch="2.9.0a0+git1234567", backend=here)
        for backend, provider in ((built, "none"), (here, "dlx")):
            resolution = _resolve.resolve(situation, manifest, [self.BUILT.replace(backend=backend)])
            assert resolution.provider == provider

    def test_it_replaces_torchs_own_table_where_asked_to(self, manifest: Manifest) -> None:
        here = facts(torch="2.16.0", table=UPSTREAM, settings=Settings(prefer="dlx"))
        resolution = _resolve.resolve(here, manifest, [self.BUILT])
        assert [c.library for c in resolution.accepted] == ["/cache/own.so", UPSTREAM.library]
        beside = here.replace(table=FOREIGN)
        assert _resolve.resolve(beside, manifest, [self.BUILT]).library == "/cache/own.so"

    @pytest.mark.parametrize("table", [UPSTREAM, FOREIGN])
    def test_a_table_comes_first(self, table: Table, manifest: Manifest) -> None:
        resolution = _resolve.resolve(facts(table=table), manifest, [self.BUILT])
        assert resolution.provider == table.provider


def test_every_reason_is_one_line(manifest: Manifest) -> None:
    for situation in (facts(), facts(table=UPSTREAM), facts(table=FOREIGN), facts(torch="2.9.0a0"), linux(**NPU)):
        resolution = _resolve.resolve(situation, manifest)
        for verdict in [c.verdict for c in resolution.candidates] + [Accepted(resolution.reason)]:
            assert verdict.reason
            assert "\n" not in verdict.reason
