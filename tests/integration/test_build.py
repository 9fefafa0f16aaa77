"""`dlx-torch build` compiles a library for the torch here, and a new process loads it.

This needs cmake, ninja and a C++ compiler and, if torch is built for CUDA, the headers of CUDA: from $CUDA_HOME, from
NVIDIA's packages beside torch, or from an SDK that ./dev has fetched.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from dlx_torch_ext import _cache, _facts
from dlx_torch_ext._variants import human_name

from tests.snippets import attach
from tests.support.installation import Site
from tests.support.left_out import cases
from tests.support.process.finished import Finished
from tools.settings import dev_dir

FACTS = _facts.read(torch)
BACKEND = FACTS.backend  # that this torch is built for


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The package without libraries and with a copy of the sources, so that a checkout may change during the test."""
    made = Site(tmp_path / "site")
    sources = made.package / "_src"
    if not sources.exists():  # the package under test runs from a checkout
        sources.mkdir()
        for name in ("CMakeLists.txt", "variants.toml"):
            shutil.copy(Path(_cache.source_folder()) / name, sources)
        for name in ("cmake", "cpp"):
            shutil.copytree(Path(_cache.source_folder()) / name, sources / name)
    monkeypatch.setattr(_cache, "source_folder", lambda: str(sources))
    _cache.revision.cache_clear()
    return made


def cuda_headers() -> dict[str, str]:
    """The setting that makes the build find the newest SDK's CUDA headers, if it would find no others."""
    found = sorted(dev_dir().glob("sdk/*/cuda/include/cuda_runtime_api.h"))
    if "CUDA_HOME" in os.environ or not found:
        return {}
    return {"CUDA_HOME": str(found[-1].parents[1])}


def build(site: Site, *arguments: str, **env: str | None) -> Finished:
    # ./dev sets this to the folder of its own cmake and ninja, which the environment under test may not have.
    path = os.pathsep.join(filter(None, [os.environ.get("PATH"), os.environ.get("DLX_TEST_BUILD_TOOLS")]))
    return site.cli("build", *arguments, PATH=path, **cuda_headers(), **env)


def printed_path(finished: Finished) -> Path:
    assert finished.status == 0, str(finished)
    return Path(finished.stdout.strip())


def attached(site: Site, env: dict[str, str], npu: bool = False) -> Any:
    """What a new process has on its torch.Tensor, and what its self-test finds."""
    no_cuda = {"DLX_SIM_CUDA_DEVICES": "0"} if npu else {}  # a CUDA device comes before torch_npu
    return site.call(attach.attach_what_was_built, TORCH_DEVICE_BACKEND_AUTOLOAD="0", **no_cuda, **env)


def variant(backend: str) -> str:
    return human_name(torch.__version__, FACTS.cxx11_abi, backend)


def test_into_the_cache_where_it_is_found(site: Site, tmp_path: Path) -> None:
    """By default for the backend that torch is built for. A truncated file with the same name is replaced."""
    cache = {"DLX_TORCH_CACHE_DIR": str(tmp_path / "cache"), "DLX_TORCH_PREFER": "dlx"}  # torch 2.10 has its own table
    expected = tmp_path / "cache" / _cache.file_name(FACTS, BACKEND)
    expected.parent.mkdir()
    expected.write_bytes(b"\x7fELF, and no more")
    finished = build(site, **cache)
    assert printed_path(finished) == expected
    assert "is truncated" in finished.stderr
    assert "the next `import torch` uses it" in finished.stderr
    assert os.listdir(expected.parent) == [expected.name]
    assert attached(site, cache) == ["dlx", variant(BACKEND), str(expected), ""]
    expected.parent.chmod(0o777)
    provider, _, library, reason = attached(site, cache)
    assert library != str(expected)
    assert provider == "upstream" or f"{expected} is not opened, because {expected.parent} can be written" in reason


def test_for_torch_npu_with_a_chosen_name(site: Site, tmp_path: Path) -> None:
    if FACTS.torch_npu is None:  # it only has to be installed: nothing of it is compiled or loaded
        (site.folder / "torch_npu").mkdir()
        (site.folder / "torch_npu" / "__init__.py").write_text("raise ImportError('libhccl.so is missing')\n")
    finished = build(site, "--build-with-torch-npu", "--output-dir", str(tmp_path / "out"), "--libname", "libmine.so")
    library = printed_path(finished)
    assert library == tmp_path / "out" / "libmine.so"
    assert os.listdir(library.parent) == [library.name]
    assert f"DLX_TORCH_LIBRARY={library}" in finished.stderr
    assert attached(site, {"DLX_TORCH_LIBRARY": str(library)}, npu=True) == [
        "dlx",
        "DLX_TORCH_LIBRARY",
        str(library),
        "",
    ]


@pytest.mark.parametrize("backend", cases(["cuda", "rocm"], {BACKEND: (True, f"torch is built for {BACKEND}")}))
def test_for_what_torch_is_not_built_for(backend: str, site: Site, tmp_path: Path) -> None:
    finished = build(site, f"--build-with-{backend}", "--output-dir", str(tmp_path / "out"))
    assert finished.status == 1
    assert finished.stdout == ""
    assert finished.stderr.splitlines() == [
        f"dlx-torch: a {backend} library needs a torch built for {backend}, and torch {torch.__version__} is built for"
        f" {BACKEND}: install such a torch first [DLX306]"
    ]
    assert not (tmp_path / "out").exists()


FAILING_COMPILER = """#!/bin/sh
case "$*" in *layout.cc*) echo "layout.cc: error: refused" >&2; exit 1;; esac
exec {real} "$@"
"""


def test_a_compiler_that_fails_is_quoted(site: Site, tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(FAILING_COMPILER.format(real=os.environ.get("CXX", "c++")))
    compiler.chmod(0o755)
    finished = build(site, "--output-dir", str(tmp_path / "out"), CXX=str(compiler))
    assert finished.status == 1
    assert "layout.cc: error: refused" in finished.stderr
    assert os.listdir(tmp_path / "out") == []
