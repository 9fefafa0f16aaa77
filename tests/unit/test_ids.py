"""Ids: each stands for one message of the page, is found again in a real message, and can be explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _ids

from tests.support import fake_torch
from tests.support.command import dlx_torch, report
from tests.support.installation import Site, entry, matrix

CPU = [entry("2.9", True, "cpu")]
PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"


def test_every_quoted_message_has_an_id_of_its_own() -> None:
    """Ids and messages one to one, so that an id always means the same."""
    page = PAGE.read_text(encoding="utf-8")
    problems = page[page.index("\n## There is no table") :]
    quotes = re.findall(r"^(?:### |\| )`([^`]+)`", problems, re.MULTILINE)
    entries = _ids.entries()
    assert [entry.quote for entry in entries if entry.quote in quotes] == quotes
    assert len({entry.id for entry in entries}) == len({entry.quote for entry in entries}) == len(entries) > 90
    assert all(entry.text for entry in entries)


# A message of each way to end without a table, or with a warning, and its ids in the order of its words.
SITUATIONS: list[tuple[str, Any, dict[str, str], list[str]]] = [
    ("no torch", None, {}, ["DLX011"]),
    ("broken torch", "__import__('libtorch_is_missing')", {}, ["DLX012"]),
    ("old torch", "fake_torch.torch('2.2.0')", {}, ["DLX014"]),
    ("disabled", "fake_torch.torch()", {"DLX_TORCH_DISABLE": "1"}, ["DLX010", "DLX016"]),
    ("no autoload", "fake_torch.torch(whole=True)", {"DLX_TORCH_AUTOLOAD": "0"}, ["DLX016", "DLX017"]),
    ("nightly", "fake_torch.torch('2.9.0a0+git1234567')", {}, ["DLX023", "DLX046"]),
    ("local tag", "fake_torch.torch('2.9.1+somebody')", {}, ["DLX024", "DLX046"]),
    ("no version", "fake_torch.torch('odd')", {}, ["DLX025", "DLX046"]),
    ("no ABI", "fake_torch.torch(cxx11_abi=None)", {}, ["DLX026"]),
    ("no row", "fake_torch.torch('2.8.0')", {}, ["DLX030"]),
    ("no backend", "fake_torch.torch(cuda='12.8')", {}, ["DLX031"]),
    ("named library", "fake_torch.torch(whole=True)", {"DLX_TORCH_LIBRARY": "/nope.so"}, ["DLX074", "DLX048"]),
    ("wrong value", "fake_torch.torch(whole=True)", {"DLX_TORCH_PREFER": "upsteam"}, ["DLX071"]),
    ("unknown name", "fake_torch.torch(whole=True)", {"DLX_TORCH_QQQ": "1"}, ["DLX072"]),
    ("odd switch", "fake_torch.torch(whole=True)", {"DLX_TORCH_AUTOLOAD": "maybe"}, ["DLX073"]),
]


@pytest.mark.parametrize(("name", "torch", "env", "ids"), SITUATIONS, ids=[situation[0] for situation in SITUATIONS])
def test_the_doctor_names_it(name: str, torch: str | None, env: dict[str, str], ids: list[str], tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, torch or "no torch")
    _, found = report(site, **env)
    assert [problem["id"] for problem in found["problems"]] == ids
    assert found["problems"][0]["explain"] == f"dlx-torch explain {ids[0]}"
    said = " ".join([found["verdict"], *found["findings"]])
    assert f"[{', '.join(ids)}]" in said
    assert f"more about {' '.join(ids)}: dlx-torch explain ID" in dlx_torch(site, "doctor", **env).stdout


def test_an_attach_error_has_it(set_module: Callable[..., Any], install_variants: Callable[..., Path]) -> None:
    install_variants(matrix(), libraries=False)
    set_module(fake_torch.torch("2.2.0"))
    with pytest.raises(dlx.AttachError, match=r"upgrade torch \[DLX014\]$"):
        dlx.attach(strict=True)
    assert issubclass(dlx.AttachError, dlx.Error)
    assert issubclass(dlx.BuildError, dlx.Error)
    assert issubclass(dlx.AttachWarning, RuntimeWarning)


def test_what_is_right_has_none(torch: Any) -> None:
    assert not re.search(r"DLX\d", dlx.attach().reason)


class TestExplain:
    @pytest.mark.parametrize(
        "asked", ["DLX030", "dlx030", "no library for torch 2.99 with C++ ABI 1 in this installation"]
    )
    def test_an_id_or_a_message(self, asked: str, tmp_path: Path) -> None:
        done = dlx_torch(Site(tmp_path), "explain", asked)
        assert done.status == 0
        assert done.stdout.startswith("DLX030: no library for torch ... with C++ ABI ... in this installation\n\n")
        assert "Upgrade dlx-torch-ext" in done.stdout

    def test_every_id(self, tmp_path: Path) -> None:
        lines = dlx_torch(Site(tmp_path), "explain").stdout.splitlines()
        assert lines == [f"{entry.id}  {entry.quote}" for entry in _ids.entries()]

    def test_what_there_is_not(self, tmp_path: Path) -> None:
        done = dlx_torch(Site(tmp_path), "explain", "DLX999")
        assert (done.status, done.stdout) == (1, "")
        assert done.stderr == ("dlx-torch: 'DLX999' is no id and no known message: `dlx-torch explain` lists them\n")

    def test_without_the_page_everything_else_works(self, tmp_path: Path) -> None:
        site = Site(tmp_path, CPU, "fake_torch.torch('2.2.0')")
        (site.package / "troubleshooting.md").unlink()
        code, found = report(site)
        assert (code, found["problems"]) == (1, [])
        done = dlx_torch(site, "explain", "DLX030")
        assert done.stderr == ("dlx-torch: this installation has no page to explain from: reinstall dlx-torch-ext\n")
