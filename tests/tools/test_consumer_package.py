"""How the headers for authors of kernels are found: CMake, pkg-config, the command line, the functions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import dlx_torch_ext
import pytest

from tests.support.left_out import left_out_if
from tools.settings import ROOT, tool

HEADERS = ROOT / "cpp" / "include" / "dlx"
PROGRAM = """\
cmake_minimum_required(VERSION 3.20)
project(author LANGUAGES NONE)
find_package(dlx_torch_ext {version} CONFIG REQUIRED)
find_package(dlx_torch_ext CONFIG REQUIRED)
get_target_property(include dlx::consumer INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "version ${{dlx_torch_ext_VERSION}} in ${{include}}")
"""


def version() -> str:
    """DLX_CONSUMER_VERSION as people write it."""
    text = (HEADERS / "core" / "python.h").read_text(encoding="utf-8")
    (number,) = re.findall(r"^#define DLX_CONSUMER_VERSION (\d+)$", text, re.M)
    return f"{int(number) // 100}.{int(number) % 100}"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The folders of an installed package, as cmake/DlxInstall.cmake makes them."""
    shutil.copytree(ROOT / "cpp" / "include", tmp_path / "package" / "include")
    shutil.copytree(ROOT / "cpp" / "share", tmp_path / "package" / "share")
    return tmp_path / "package"


def configure(package: Path, wanted: str) -> subprocess.CompletedProcess[str]:
    author = package.parent / "author"
    author.mkdir()
    (author / "CMakeLists.txt").write_text(PROGRAM.format(version=wanted), encoding="utf-8")
    place = f"-Ddlx_torch_ext_DIR={package / 'share' / 'cmake' / 'dlx_torch_ext'}"
    command = [tool("cmake"), "-S", str(author), "-B", str(author / "build"), "-G", "Ninja"]
    return subprocess.run(
        [*command, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", place], capture_output=True, text=True, check=False
    )


def test_find_package_has_the_target(package: Path) -> None:
    done = configure(package, "1.0")
    assert done.returncode == 0, done.stderr
    assert f"-- version {version()} in {package / 'include'}\n" in done.stdout


@pytest.mark.parametrize("wanted", ["1.99", "2.0", "0.9"])
def test_find_package_refuses_another_version(wanted: str, package: Path) -> None:
    done = configure(package, wanted)
    assert done.returncode != 0
    assert f"version: {version()}" in done.stderr


def test_the_package_in_the_prefix_is_found_by_its_name(package: Path) -> None:
    """scikit-build-core puts the folder of an entry point in cmake.prefix on CMAKE_PREFIX_PATH."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points."cmake.prefix"]\ndlx_torch_ext = "dlx_torch_ext"\n' in text
    assert (package / "share" / "cmake" / "dlx_torch_ext" / "dlx_torch_ext-config.cmake").is_file()


def test_pkg_config_says_the_same() -> None:
    text = (ROOT / "cpp" / "share" / "pkgconfig" / "dlx_torch_ext.pc").read_text(encoding="utf-8")
    assert f"\nVersion: {version()}\n" in text
    assert "\nCflags: -I${pcfiledir}/../../include\n" in text


@left_out_if(shutil.which("pkg-config") is None, "there is no pkg-config here")
def test_pkg_config_finds_the_headers(package: Path) -> None:
    words = ["pkg-config", "--cflags", "dlx_torch_ext"]
    env = {"PKG_CONFIG_PATH": str(package / "share" / "pkgconfig"), "PATH": "/usr/bin:/bin"}
    flags = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.split()
    assert [Path(flag[2:]).resolve() for flag in flags] == [(package / "include").resolve()]


def test_the_headers_that_no_library_is_compiled_from_are_not_among_the_sources() -> None:
    """They would be in the wheel twice, and each change of them would make built libraries invisible."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'^"(cpp[^"]*)" = ', text, re.M) == ["cpp/src", "cpp/include/dlx/dlx_torch.h"]
    included = {
        name
        for source in (ROOT / "cpp" / "src").rglob("*.*")
        for name in re.findall(r"#include <(dlx/[^>]+)>", source.read_text(encoding="utf-8"))
    }
    assert included == {"dlx/dlx_torch.h"}


def test_the_functions_name_folders_of_the_package() -> None:
    folder = Path(dlx_torch_ext.__file__).parent
    assert Path(dlx_torch_ext.get_include()) == folder / "include"
    assert Path(dlx_torch_ext.get_cmake_dir()) == folder / "share" / "cmake" / "dlx_torch_ext"
    assert Path(dlx_torch_ext.get_pkgconfig_dir()) == folder / "share" / "pkgconfig"


def test_the_command_line_says_them() -> None:
    def printed(option: str) -> str:
        words = [sys.executable, "-m", "dlx_torch_ext", option]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    python = sysconfig.get_paths()["include"]
    assert printed("--includes") == f"-I{python} -I{dlx_torch_ext.get_include()}\n"
    assert printed("--cmakedir") == f"{dlx_torch_ext.get_cmake_dir()}\n"
    assert printed("--pkgconfigdir") == f"{dlx_torch_ext.get_pkgconfig_dir()}\n"
