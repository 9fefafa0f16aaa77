"""The folder of built libraries, their names, which differ wherever the libraries do, and how they are found."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _cache
from dlx_torch_ext._facts import Facts
from dlx_torch_ext._settings import Settings, read_settings
from dlx_torch_ext._variants import file_on

from tests.snippets import on_fake_torch
from tests.support import compiled, stub
from tests.support.installation import SYSTEM, Site, facts
from tests.support.left_out import left_out_if
from tests.support.process.finished import ROOT

NIGHTLY = "2.9.0.dev20250804+cu128"


@pytest.fixture
def revision(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(_cache, "revision", lambda: "0123456789ab")
    return "0123456789ab"


@pytest.fixture
def torch_build(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(_cache, "torch_build", lambda here, backend: "ba9876543210")
    return "ba9876543210"


def in_cache(folder: Path, **changes: Any) -> Facts:
    return facts(settings=Settings(cache_dir=str(folder)), **changes)


class TestFolder:
    def test_dlx_torch_cache_dir(self, tmp_path: Path) -> None:
        settings = read_settings({"DLX_TORCH_CACHE_DIR": str(tmp_path / "own")})
        assert _cache.folder(settings) == str(tmp_path / "own")

    def test_in_the_users_cache(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert _cache.folder(Settings()) == str(tmp_path / "dlx-torch-ext")

    @pytest.mark.parametrize("unusable", ["", "relative/cache"])
    def test_in_the_home_directory(self, unusable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        assert _cache.folder(Settings()) == str(tmp_path / ".cache" / "dlx-torch-ext")

    def test_never_below_the_current_directory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # there is no home directory
        assert _cache.folder(Settings()) == ""
        assert _cache.built_for(facts()) == ()


class TestName:
    def test_the_file_name_says_all_that_the_library_depends_on(self, revision: str, torch_build: str) -> None:
        name = _cache.file_name(facts(torch=NIGHTLY, system="linux", machine="x86_64"), "cuda")
        identity = f"{torch_build}-{revision}"
        assert name == f"libdlx_torch_cuda-torch2.9.0.dev20250804+cu128-cxx11-linux-x86_64-{identity}.so"

    def test_the_file_name_follows_the_system(self, revision: str, torch_build: str) -> None:
        assert _cache.file_name(facts(system="macos", machine="arm64"), "cpu").endswith(
            f"-macos-arm64-{torch_build}-{revision}.dylib"
        )
        name = _cache.file_name(facts(system="windows", machine="x64"), "cpu")
        assert name.startswith("dlx_torch_cpu-")
        assert name.endswith(".dll")

    def test_no_two_identities_share_a_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        torches = ["2.9.1", "2.9.1+cpu", "2.9.1+cu128", "2.9.10", "2.9.0a0+git1", "2.9.0A0+git1", NIGHTLY]
        torches += ["2.9.0a0_git1", "2.9.0a0/git1", "2.9.0a0-git1", "2.9.0a0_2fgit1", "2.9.0a0 git1", "2.9.0é"]
        torches += ["2.9.0_c3_a9"]
        states = list(itertools.product(("aaa", "bbb"), ("ccc", "ddd")))
        axes = itertools.product(torches, (True, False), ("x86_64", "aarch64"), _cache.BACKENDS, states)
        names = []
        for torch, abi, machine, backend, (state, build) in axes:
            monkeypatch.setattr(_cache, "revision", lambda state=state: state)
            monkeypatch.setattr(_cache, "torch_build", lambda here, backend, build=build: build)
            names.append(_cache.file_name(facts(torch=torch, cxx11_abi=abi, machine=machine), backend))
        folded = {name.casefold() for name in names}  # on some file systems A and a are the same letter
        assert len(folded) == len(names)
        assert all(name == os.path.basename(name) and name.isascii() and " " not in name for name in names)


class TestRevision:
    def test_changes_with_the_sources_and_with_nothing_else(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name in ("CMakeLists.txt", "variants.toml", "cmake/a.cmake", "cpp/src/b.cc"):
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name)
        monkeypatch.setattr(_cache, "source_folder", lambda: str(tmp_path))

        def now() -> str:
            _cache.revision.cache_clear()
            return _cache.revision()

        first = now()
        assert len(first) == 12
        copy = tmp_path / "copy"
        for name in ("CMakeLists.txt", "variants.toml"):
            copy.mkdir(exist_ok=True)
            shutil.copy(tmp_path / name, copy)
        for name in ("cmake", "cpp"):
            shutil.copytree(tmp_path / name, copy / name)
        monkeypatch.setattr(_cache, "source_folder", lambda: str(copy))
        assert now() == first, "the folder that the sources are in does not matter"
        monkeypatch.setattr(_cache, "source_folder", lambda: str(tmp_path))
        os.utime(tmp_path / "CMakeLists.txt", (0, 0))
        (tmp_path / "README.md").write_text("x")
        (tmp_path / "cmake" / "__pycache__").mkdir()
        (tmp_path / "cmake" / "__pycache__" / "variants.pyc").write_text("x")
        assert now() == first
        (tmp_path / "cpp" / "src" / "b.cc").write_text("changed")
        changed = now()
        (tmp_path / "cpp" / "src" / "b.cc").rename(tmp_path / "cpp" / "src" / "c.cc")
        assert len({first, changed, now()}) == 3
        _cache.revision.cache_clear()

    def test_the_package_here_has_its_sources(self) -> None:
        _cache.revision.cache_clear()
        assert os.path.isfile(os.path.join(_cache.source_folder(), "cpp", "include", "dlx", "dlx_torch.h"))
        assert len(_cache.revision()) == 12

    def test_all_its_sources_are_in_the_wheel(self) -> None:
        project = (ROOT / "pyproject.toml").read_text()
        for name in _cache._SOURCES:  # a whole folder, or the parts that a library is made from
            assert re.search(rf'^"({name}(/[^"]+)?)" = "dlx_torch_ext/_src/\1"$', project, re.M)

    def test_a_package_without_sources(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        import dlx_torch_ext

        monkeypatch.setattr(dlx_torch_ext, "__path__", [str(tmp_path)])
        _cache.revision.cache_clear()
        assert (_cache.source_folder(), _cache.revision()) == ("", "")
        _cache.revision.cache_clear()

    def test_the_sources_of_a_checkout_come_before_those_in_the_package(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        import dlx_torch_ext

        checkout, installed = tmp_path / "checkout", tmp_path / "site-packages" / "dlx_torch_ext"
        for root in (checkout, installed / "_src"):
            for name in ("CMakeLists.txt", "variants.toml", "cmake", "cpp"):
                (root / name).mkdir(parents=True)
        monkeypatch.setattr(dlx_torch_ext, "__path__", [str(installed), str(checkout / "python" / "dlx_torch_ext")])
        assert _cache.source_folder() == str(checkout)
        monkeypatch.setattr(dlx_torch_ext, "__path__", [str(installed)])
        assert _cache.source_folder() == str(installed / "_src")


class TestTorchBuild:
    """Two builds of one version of torch are told apart."""

    @pytest.fixture
    def torch(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
        """The folder lib of a torch and of a torch_npu."""
        for package in ("torch", "torch_npu"):
            module = types.ModuleType(package)
            module.__file__ = str(tmp_path / package / "__init__.py")
            monkeypatch.setitem(sys.modules, package, module)
            (tmp_path / package / "lib").mkdir(parents=True)
        return tmp_path / "torch" / "lib"

    @staticmethod
    def builds(**changes: Any) -> dict[str, str]:
        return {backend: _cache.torch_build(facts(**changes), backend) for backend in _cache.BACKENDS}

    @staticmethod
    def differ(first: dict[str, str], second: dict[str, str]) -> set[str]:
        return {backend for backend in first if first[backend] != second[backend]}

    @left_out_if(SYSTEM != "linux", "only Linux has the linker's ids")
    def test_by_the_ids_of_its_libraries(self, torch: Path) -> None:
        everything = set(_cache.BACKENDS)
        files = {torch / f"lib{name}.so": everything for name in ("c10", "torch_cpu", "torch_python")}
        files |= {torch / "libc10_cuda.so": {"cuda"}, torch / "libc10_hip.so": {"rocm"}}
        files |= {torch.parents[1] / "torch_npu" / "lib" / "libtorch_npu.so": {"torch_npu"}}
        for file, backends in files.items():
            before = self.builds()
            shutil.copy(compiled.library(stub.SOURCE, "-Wl,--build-id=0x1234"), file)
            first = self.builds()
            assert self.differ(before, first) == backends, file.name
            os.utime(file, (0, 0))
            assert self.builds() == first, "the time of a library with an id says nothing"
            shutil.copy(compiled.library(stub.SOURCE, "-Wl,--build-id=0x1235"), file)
            assert self.differ(first, self.builds()) == backends, file.name

    @pytest.mark.parametrize("system", ["linux", "macos", "windows"])
    def test_where_there_is_none_by_size_and_time(self, system: str, torch: Path) -> None:
        file = torch / file_on(system, "torch_cpu")
        seen = [self.builds(system=system)["cpu"]]
        for content, time in ((b"abc", 1), (b"abcd", 1), (b"abcd", 2)):
            file.write_bytes(content)
            os.utime(file, (time, time))
            seen.append(self.builds(system=system)["cpu"])
        assert len(set(seen)) == 4

    @pytest.mark.parametrize("spec", [None, ValueError("torch_npu.__spec__ is None"), ImportError("broken")])
    def test_without_torch_npu(self, spec: Any, torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "torch_npu")

        class Finder:
            @staticmethod
            def find_spec(*_: object) -> None:
                if spec is not None:
                    raise spec

        monkeypatch.setattr(sys, "meta_path", [Finder])
        assert len(_cache.torch_build(facts(), "torch_npu")) == 12

    def test_torch_npu_that_is_not_imported(self, torch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        npu = torch.parents[1] / "torch_npu"
        (npu / "__init__.py").touch()
        (npu / "lib" / file_on(SYSTEM, "torch_npu")).touch()
        imported = _cache.torch_build(facts(), "torch_npu")
        monkeypatch.delitem(sys.modules, "torch_npu")
        monkeypatch.syspath_prepend(str(npu.parent))
        assert _cache.torch_build(facts(), "torch_npu") == imported

    @left_out_if(sys.platform == "win32", "Windows has no FIFOs")
    def test_a_fifo_in_the_place_of_a_library(self, torch: Path) -> None:
        os.mkfifo(torch / file_on(SYSTEM, "c10"))
        assert len(_cache.torch_build(facts(), "cpu")) == 12


@pytest.mark.usefixtures("revision")
class TestFound:
    def test_every_backend_for_exactly_this_torch(self, tmp_path: Path) -> None:
        here = in_cache(tmp_path, torch=NIGHTLY)
        for backend in ("cpu", "torch_npu"):
            (tmp_path / _cache.file_name(here, backend)).touch()
        found = _cache.built_for(here)
        assert [(v.backend, v.torch, v.cxx11_abi, v.serves) for v in found] == [
            ("cpu", NIGHTLY, True, "built"),
            ("torch_npu", NIGHTLY, True, "built"),
        ]
        assert found[0].name == f"torch{NIGHTLY}-cxx11-cpu"
        assert all(os.path.isfile(v.path) for v in found)

    @pytest.mark.parametrize(
        "change", [{"torch": "2.9.0.dev20250805+cu128"}, {"cxx11_abi": False}, {"machine": "riscv64"}, {"torch": None}]
    )
    def test_nothing_for_another_torch_or_machine(self, change: dict[str, Any], tmp_path: Path) -> None:
        (tmp_path / _cache.file_name(facts(torch=NIGHTLY), "cpu")).touch()
        assert _cache.built_for(in_cache(tmp_path, **{"torch": NIGHTLY, **change})) == ()

    def test_nothing_made_of_other_sources(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / _cache.file_name(facts(torch=NIGHTLY), "cpu")).touch()
        monkeypatch.setattr(_cache, "revision", lambda: "ba9876543210")
        assert _cache.built_for(in_cache(tmp_path, torch=NIGHTLY)) == ()

    def test_nothing_for_another_build_of_this_torch(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / _cache.file_name(facts(torch=NIGHTLY), "cpu")).touch()
        assert _cache.built_for(in_cache(tmp_path, torch=NIGHTLY)) != ()
        monkeypatch.setattr(_cache, "torch_build", lambda here, backend: "ba9876543210")
        assert _cache.built_for(in_cache(tmp_path, torch=NIGHTLY)) == ()

    def test_without_a_fitting_name_neither_the_sources_nor_torchs_libraries_are_read(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "something.so").touch()
        (tmp_path / _cache.file_name(facts(torch="2.9.10"), "cpu")).touch()
        monkeypatch.setattr(_cache, "revision", lambda: pytest.fail("the sources were read"))
        monkeypatch.setattr(_cache, "torch_build", lambda *_: pytest.fail("torch's libraries were read"))
        assert _cache.built_for(in_cache(tmp_path, torch="2.9.1")) == ()

    def test_only_for_the_backend_of_a_fitting_name_are_torchs_libraries_read(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / _cache.file_name(facts(), "cuda")).touch()
        asked, real = [], _cache.torch_build

        def ask(here: Facts, backend: str) -> str:
            asked.append(backend)
            return real(here, backend)

        monkeypatch.setattr(_cache, "torch_build", ask)
        assert [variant.backend for variant in _cache.built_for(in_cache(tmp_path))] == ["cuda"]
        assert asked == ["cuda"]

    def test_sources_that_cannot_be_read(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / _cache.file_name(facts(), "cpu")).touch()

        def refuse() -> str:
            raise PermissionError(13, "Permission denied", "/sources/CMakeLists.txt")

        monkeypatch.setattr(_cache, "revision", refuse)
        assert _cache.built_for(in_cache(tmp_path)) == ()

    def test_a_cache_that_is_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert _cache.built_for(in_cache(tmp_path / "file")) == ()
        assert _cache.built_for(in_cache(tmp_path / "missing")) == ()


@pytest.mark.usefixtures("revision")
class TestInAFreshProcess:
    """The package has no manifest, torch is a nightly, and the cache has a file with the right name."""

    @staticmethod
    def attach(tmp_path: Path, **env: str) -> Any:
        site = Site(tmp_path / "site", None, f"fake_torch.torch({NIGHTLY!r}, whole=True)")
        env = {"DLX_TORCH_CACHE_DIR": str(tmp_path), "DLX_TORCH_AUTOLOAD": "0", **env}
        return site.call(on_fake_torch.attach_with_revision, "0123456789ab", **env)

    @staticmethod
    def path(tmp_path: Path) -> Path:
        return tmp_path / _cache.file_name(facts(torch=NIGHTLY), "cpu")

    def test_a_built_library_is_used(self, tmp_path: Path) -> None:
        file = stub.library(self.path(tmp_path), f'BUILT_FOR="{NIGHTLY}"')
        provider, variant, library, reason, _ = self.attach(tmp_path)
        assert (provider, variant, library) == ("dlx", f"torch{NIGHTLY}-cxx11-cpu", str(file))
        assert reason == f"built here for exactly torch {NIGHTLY}"

    def test_without_a_built_library(self, tmp_path: Path) -> None:
        provider, _, _, reason, built = self.attach(tmp_path)
        assert provider == "none"
        assert "`dlx-torch build`" in reason
        assert built == []

    @pytest.mark.parametrize(
        ("macros", "words"),
        [
            (
                ('BUILT_FOR="2.9.0.dev20250805+cu128"',),
                "built for exactly torch 2.9.0.dev20250805+cu128, this is torch",
            ),
            ((), f"was not built for exactly torch {NIGHTLY}: run `dlx-torch build` again"),
            (('BUILT_FOR=""',), f"was not built for exactly torch {NIGHTLY}: run `dlx-torch build` again"),
            ((f'BUILT_FOR="{NIGHTLY}"', 'BACKEND="torch_npu"'), "built for torch_npu, this torch needs cpu"),
            ((f'BUILT_FOR="{NIGHTLY}"', "CXX11_ABI=0"), "C++ ABI 0"),
            (("NOT_OURS",), "is not a library of dlx-torch-ext"),
        ],
    )
    def test_another_library_with_that_file_name(self, macros: tuple[str, ...], words: str, tmp_path: Path) -> None:
        stub.library(self.path(tmp_path), *macros)
        provider, _, _, reason, built = self.attach(tmp_path)
        assert provider == "none"
        assert words in reason
        assert words in built[0]

    @left_out_if(SYSTEM != "linux", "only the loader of Linux crashes there")
    def test_a_truncated_library(self, tmp_path: Path) -> None:
        file = stub.library(self.path(tmp_path), f'BUILT_FOR="{NIGHTLY}"')
        file.write_bytes(file.read_bytes()[:5000])
        provider, _, _, reason, _ = self.attach(tmp_path)
        assert provider == "none"
        assert "truncated" in reason
        assert "run `dlx-torch build` again" in reason

    def test_one_of_another_torch_under_dlx_torch_library(self, tmp_path: Path) -> None:
        file = stub.library(tmp_path / "renamed.so", 'BUILT_FOR="2.9.1"')
        provider, _, _, reason, _ = self.attach(tmp_path, DLX_TORCH_LIBRARY=str(file))
        assert provider == "none"
        assert f"built for exactly torch 2.9.1, this is torch {NIGHTLY}: correct DLX_TORCH_LIBRARY" in reason
