"""A broken installation: the host's `import torch` ends well, and there is the right table or none, with the reason."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.snippets import faults
from tests.support.faults import Record, report
from tests.support.left_out import left_out_if
from tests.support.process import fork
from tests.support.this_torch import HAS_OWN_TABLE

pytestmark = left_out_if(HAS_OWN_TABLE, "torch's own table is there, whatever is broken of ours")


def cut(at: int) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(path.read_bytes()[:at])


def zeros_from(start: int) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(path.read_bytes()[:start] + bytes(path.stat().st_size - start))


def foreign(path: Path) -> None:
    """Some other library: this process's C library."""
    import ctypes.util

    from dlx_torch_ext._locate import locate

    address = ctypes.cast(ctypes.CDLL(ctypes.util.find_library("c")).malloc, ctypes.c_void_p).value or 0
    path.write_bytes(Path(locate(address).library).read_bytes())


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_to_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


LIBRARIES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": cut(0),
    "cut after 60 bytes": cut(60),
    "cut after 5000 bytes": cut(5000),
    "cut by one byte": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "text": lambda path: path.write_text("no library"),
    "zeros": zeros_from(0),
    "another library": foreign,
    "a folder": folder,
    "a link to itself": link_to_itself,
}


@pytest.mark.parametrize("how", LIBRARIES)
def test_libraries(how: str, libraries: list[Path], site: Path, record_property: Record) -> None:
    for library in libraries:
        LIBRARIES[how](library)
    seen = fork.call(faults.host, str(site))
    assert seen["provider"] == "none"
    assert any(str(library) in seen["reason"] for library in libraries)
    assert "\n" not in seen["reason"]
    report(record_property, f"the libraries: {how}", f"no table: {_short(seen['reason'], site)}")


MANIFESTS: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": cut(0),
    "cut off": cut(100),
    "another form": lambda path: path.write_text('{"schema": 99}'),
    "not a manifest": lambda path: path.write_text("[1, 2]"),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "a folder": folder,
}


@pytest.mark.parametrize("how", MANIFESTS)
def test_the_manifest(how: str, site: Path, record_property: Record) -> None:
    MANIFESTS[how](site / "dlx_torch_ext" / "_lib" / "manifest.json")
    seen = fork.call(faults.host, str(site))
    assert seen["provider"] == "none"
    report(record_property, f"manifest.json: {how}", f"no table: {_short(seen['reason'], site)}")


@pytest.mark.parametrize("name", ["__init__", "_attach", "_autoload", "_capsule", "_load", "_record", "_selftest"])
def test_modules(name: str, site: Path, record_property: Record) -> None:
    (site / "dlx_torch_ext" / f"{name}.py").write_bytes(bytes(100))
    seen = fork.call(faults.host, str(site))
    # Where the package itself is not Python, nothing of ours can turn that into an ImportError. An older CPython says
    # ValueError of zeros.
    not_python = ("ImportError", "SyntaxError", "ValueError")
    assert seen["provider"] in (not_python if name == "__init__" else ("none", "ImportError"))
    said = "; ".join([*seen["warnings"], seen["reason"]])
    report(record_property, f"{name}.py: zeros", f"{seen['provider']}: {_short(said, site)}")


def _short(text: str, site: Path) -> str:
    return textwrap.shorten(text.replace(str(site), "..."), 140, placeholder=" ...")


@pytest.mark.parametrize(
    ("broken", "function"),
    [("uninstalled under it", "host_while_it_is_removed"), ("upgraded under it", "host_while_it_is_replaced")],
)
def test_a_running_process(broken: str, function: str, site: Path, tmp_path: Path, record_property: Record) -> None:
    arguments: list[Any] = [str(site)]
    if "upgraded" in broken:
        import shutil

        arguments.append(shutil.copytree(site, tmp_path / "newer").as_posix())
    assert fork.call(getattr(faults, function), *arguments) == ["dlx", "dlx", "dlx"]
    report(record_property, f"the package: {broken}", "its table stays and works")
