"""docs/authors.md: what it says to type works."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support import kit
from tests.support.compiled import library
from tests.support.process.finished import ROOT

PAGE = ROOT / "docs" / "authors.md"


def block(language: str, beginning: str) -> str:
    """The one block of code in this language that begins so."""
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (text,) = (text for text in found if text.startswith(beginning))
    return str(text)


@pytest.fixture
def my_saxpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the page."""
    source = tmp_path / "saxpy.cc"
    source.write_text(block("cpp", "#include <dlx/consumer.h>"), encoding="utf-8")
    made = library(source, "-std=c++17", *kit.WARNINGS, *kit.includes(), f"-DHEADERS_{kit.digest()}")
    module = kit.load(made, "my_saxpy")
    monkeypatch.setitem(sys.modules, "my_saxpy", module)
    return module


def test_saxpy_of_the_page(my_saxpy: Any) -> None:
    saxpy = my_saxpy.saxpy
    x, y, out = torch.arange(4.0), torch.ones(4), torch.empty(4)
    saxpy(2.0, x, y, out=out)
    assert out.tolist() == [1.0, 3.0, 5.0, 7.0]
    quoted = re.search(r"is an error of one line: `(.*?)`", PAGE.read_text(encoding="utf-8"), re.S)
    assert quoted is not None
    with pytest.raises(TypeError) as raised:
        saxpy(2.0, x, y.double(), out)
    assert str(raised.value) == " ".join(quoted[1].split())


@pytest.mark.isolated
def test_the_probe_of_the_page() -> None:
    launched = []

    def launch(*tensors: torch.Tensor) -> None:
        launched.append(kit.kit().where(*tensors))

    names: dict[str, Any] = {"launch": launch}
    exec(block("python", "import torch\nfrom dlx_torch_ext.testing"), names)
    assert launched == [("cuda:1", 0xBEEF0)]
    with pytest.raises(RuntimeError, match="the device is lost"):
        launch(names["x"])


@pytest.mark.isolated
@pytest.mark.parametrize("wrapped", ["compiled", "custom operator", "autograd.Function"])
def test_a_gradient_as_the_page_has_it(wrapped: str, my_saxpy: Any) -> None:
    names: dict[str, Any] = {}
    exec(block("python", "import my_saxpy\nimport torch\n\n\n@"), names)
    exec(block("python", "class Saxpy"), names)
    function = names["Saxpy"].apply if wrapped == "autograd.Function" else names["saxpy"]

    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (function(3.0, x * 2, y) * y).sum()

    if wrapped == "compiled":
        program = torch.compile(program, fullgraph=True, backend="aot_eager")
    x, y = torch.arange(4.0, requires_grad=True), torch.ones(4, requires_grad=True)
    program(x, y).backward()
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.tolist() == [6.0] * 4
    assert y.grad.tolist() == [2.0, 8.0, 14.0, 20.0]


def test_what_the_page_lists_is_in_the_headers() -> None:
    include = ROOT / "cpp" / "include" / "dlx"
    headers = "\n".join(path.read_text(encoding="utf-8") for path in include.rglob("*.h"))
    named = set(re.findall(r"dlx::(\w+)", PAGE.read_text(encoding="utf-8"))) - {"consumer"}
    assert {name for name in named if not re.search(rf"\b{name}\b", headers)} == set()
    for macro, words in (("DLX_LOOK_AGAIN", r"after at most (\d+) calls"), ("DLX_SLOTS", r"up to (\d+) of them")):
        (number,) = re.findall(words, PAGE.read_text(encoding="utf-8"))
        assert f"#define {macro} {number}\n" in headers
