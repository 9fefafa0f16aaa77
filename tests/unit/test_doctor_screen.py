"""The doctor's whole screen, compared with the files in screens/: at most 80 columns, and 24 lines without --all.

Colour and width are those of the terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from dlx_torch_ext._cli.screen import Screen
from dlx_torch_ext._cli.summary import write

from tests.support.command import dlx_torch, in_terminal, report
from tests.support.installation import Site, entry, matrix, record, write_libraries, write_manifest

SCREENS = Path(__file__).with_name("screens")
OURS = [entry("2.9", True, "cpu"), entry("2.6", False, "cpu")]
OVERLAY = entry(None, None, "torch_npu", "overlay")
TORCH_2_9 = "fake_torch.torch(whole=True)"
TORCH_2_13 = "fake_torch.torch_with_own_table('2.13.0')"
FOREIGN = "fake_torch.torch_with_own_table('2.9.1', foreign=True)"
NIGHTLY = "fake_torch.torch('2.14.0.dev20260301')"
OLDER_ABI = "fake_torch.torch('2.6.0', cxx11_abi=False, whole=True)"


def installed(folder: Path, torch: str | None, fitting: Sequence[dict[str, Any]] = ()) -> Site:
    """A site whose manifest lists libraries for many releases of torch; only those of `fitting` are there."""
    site = Site(folder, None, torch)
    write_manifest(site.package, [*matrix(), OVERLAY])
    write_libraries(site.package, fitting)
    record(folder, "dlx-torch-ext", "0.1.0")
    return site


def screen(site: Site, env: Mapping[str, str] = MappingProxyType({}), everything: bool = False) -> str:
    """What the doctor writes about `site`, as if it were on a machine that is always the same."""
    text = json.dumps(report(site, **env)[1]).replace(str(site.folder), "/site")
    text = re.sub(r"(?<=is not installed in )[^:]+", "/env", text)
    found = json.loads(re.sub(r'/[^" ]*/stub-[0-9a-f]+', "/elsewhere/stub", text))
    found["facts"] |= {"python": "3.12.3", "free_threaded": False, "platform": "linux-x86_64"}
    found["facts"]["executable"] = "/env/bin/python"
    page = Screen(width=80, colour=False)
    write(found, page, everything)
    assert max(map(len, page.lines)) <= 80
    assert len(page.lines) <= 24 or everything
    return "\n".join([*page.lines, ""])


def expected(name: str) -> str:
    return (SCREENS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "torch", "env"),
    [
        ("ours", TORCH_2_9, {}),
        ("upstream", TORCH_2_13, {}),
        ("foreign", FOREIGN, {}),
        ("nightly", NIGHTLY, {}),
        ("no-torch", None, {}),
        ("broken-torch", "__import__('libtorch_is_missing')", {}),
        ("older-abi", OLDER_ABI, {}),
        ("not-attached", TORCH_2_9, {"DLX_TORCH_AUTOLOAD": "0", "DLX_TORCH_NPU_DRAIN": "0"}),
        (
            "settings-ignored",
            TORCH_2_9,
            {"DLX_TORCH_PREFER": "upsteam", "DLX_TORCH_DISABL": "1", "DLX_TORCH_LIBRARY": "/nope.so"},
        ),
    ],
)
def test_screen(name: str, torch: str | None, env: dict[str, str], tmp_path: Path) -> None:
    assert screen(installed(tmp_path, torch, OURS), env) == expected(name)


def beside_torch_npu(folder: Path) -> Site:
    site = installed(folder, "fake_torch.torch_with_own_table('2.12.1')", [OVERLAY])
    (folder / "torch_npu").mkdir()
    (folder / "torch_npu" / "__init__.py").touch()
    record(folder, "torch-npu", "2.12.0")
    return site


def test_screen_beside_torch_npu(tmp_path: Path) -> None:
    assert screen(beside_torch_npu(tmp_path)) == expected("overlay")


def test_functions_of_several_libraries_are_listed_by_library(tmp_path: Path) -> None:
    """An overlay leaves some of torch's own functions in place."""
    _, found = report(beside_torch_npu(tmp_path))
    for function in found["functions"][1:4:2]:
        function["library"] = "/site/torch/lib/libtorch_python.so"
    found["facts"]["torch_path"] = "/site/torch"
    page = Screen(width=80, colour=False)
    write(found, page)
    text = "\n".join(page.lines)
    assert expected("functions").rstrip("\n") in text
    assert text.count("libtorch_python.so") == 1


def test_everything(tmp_path: Path) -> None:
    assert screen(installed(tmp_path, TORCH_2_9, OURS), everything=True) == expected("everything")


def test_the_command_writes_that_screen(tmp_path: Path) -> None:
    """In 80 columns, also where stdout is a pipe and nobody says how wide the terminal is."""
    site = installed(tmp_path, TORCH_2_9, OURS)
    for env in ({}, {"COLUMNS": None}):
        lines = dlx_torch(site, "doctor", **env).stdout.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        assert lines[0] == expected("ours").splitlines()[0]
    assert "\npassed over\n  for torch 2.4" in dlx_torch(site, "doctor", "--all").stdout


@pytest.mark.parametrize("columns", [20, 40, 60, 200])
def test_lines_fold_to_the_width_of_the_terminal(columns: int, tmp_path: Path) -> None:
    lines = in_terminal(installed(tmp_path, TORCH_2_13), "doctor", columns, NO_COLOR="1").splitlines()
    # Words stay whole; the longest one is behind an indent of 6.
    longest = max(len(word) for line in lines for word in line.split())
    assert max(map(len, lines)) <= max(columns, longest + 6)
    assert (columns == 200) == any(len(line) > 80 for line in lines)


@pytest.mark.parametrize(
    ("env", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_in_a_terminal(env: dict[str, str], coloured: bool, tmp_path: Path) -> None:
    site = installed(tmp_path, TORCH_2_9, OURS)
    assert ("\x1b[" in in_terminal(site, "doctor", 80, **env)) == coloured
    assert ("\x1b[" in in_terminal(site, "list", 80, **env)) == coloured


def test_no_colour_where_nobody_sees_it(tmp_path: Path) -> None:
    site = installed(tmp_path, TORCH_2_9, OURS)
    assert "\x1b[" not in dlx_torch(site, "doctor", TERM="xterm").stdout
    assert "\x1b[" in dlx_torch(site, "doctor", FORCE_COLOR="1").stdout
    assert "\x1b[" not in dlx_torch(site, "doctor", "--json", FORCE_COLOR="1").stdout


@pytest.mark.parametrize(
    ("torch", "env", "code"),
    [(TORCH_2_9, {}, "1;32"), (TORCH_2_9, {"DLX_TORCH_DISABL": "1"}, "1;33"), (None, {}, "1;31")],
)
def test_the_verdict_is_green_yellow_or_red(torch: str | None, env: dict[str, str], code: str, tmp_path: Path) -> None:
    finished = dlx_torch(installed(tmp_path, torch, OURS), "doctor", FORCE_COLOR="1", **env)
    assert finished.stdout.startswith(f"\x1b[{code}mdlx-torch: ")
