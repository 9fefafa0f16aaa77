"""Attaching works wherever it is called: inside modes of torch, its transforms and what it traces or compiles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import dlx_torch_ext
import pytest
import torch
from dlx_torch_ext import _layout

from tests.snippets import attach
from tests.support.left_out import left_out_if
from tests.support.modes import MODES, PYTHON_MODES
from tests.support.process import spawn
from tests.support.this_torch import HAS_TORCH_NPU

pytestmark = left_out_if(HAS_TORCH_NPU, "torch_npu is installed, and the table is the one of its own tests")

Body = Callable[[Any], Any]
Run = Callable[[Body], object]


def _overriding(method: str) -> Run:
    """Calls the body where a subclass of Tensor overrides an operation."""

    def run(body: Body) -> None:
        def override(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return body(None)

        overriding: Any = type("Overriding", (torch.Tensor,), {method: classmethod(override)})
        torch.add(torch.ones(3).as_subclass(overriding), 1)

    return run


def _make_fx(body: Body) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    make_fx(body)(torch.ones(3))


WITHIN: dict[str, Run] = {
    "vmap": lambda body: torch.func.vmap(body)(torch.ones(3)),
    "grad": lambda body: torch.func.grad(lambda x: body(x).sum())(torch.ones(3)),
    "jvp": lambda body: torch.func.jvp(body, (torch.ones(3),), (torch.ones(3),)),
    "functionalize": lambda body: torch.func.functionalize(body)(torch.ones(3)),
    "vmap of grad": lambda body: torch.func.vmap(torch.func.grad(lambda x: body(x).sum()))(torch.ones(3)),
    "make_fx": _make_fx,
    "fx": lambda body: torch.fx.symbolic_trace(body),
    "jit": lambda body: torch.jit.trace(body, (torch.ones(3),), check_trace=False),
    "torch_function": _overriding("__torch_function__"),
    "torch_dispatch": _overriding("__torch_dispatch__"),
}


def attach_anew() -> str:
    dlx_torch_ext.detach()
    status = dlx_torch_ext.attach(prefer="dlx")
    return status.provider if status.provider == "dlx" else str(status)


@pytest.mark.isolated  # FakeTensorMode initialises the device
@pytest.mark.parametrize("mode", [*MODES, *PYTHON_MODES])
def test_inside_a_mode(mode: str) -> None:
    with {**MODES, **PYTHON_MODES}[mode]() as seen:
        found = attach_anew()
    assert found == "dlx"
    assert seen == [], "the mode sees nothing of it"


@pytest.mark.isolated
@pytest.mark.parametrize("place", WITHIN)
def test_inside_what_torch_runs(place: str) -> None:
    found: list[str] = []

    def body(x: Any) -> Any:
        found.append(attach_anew())
        return x * 1 if x is not None else None

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own
        WITHIN[place](body)
    assert set(found) == {"dlx"}


def test_inside_what_torch_compiles() -> None:
    """In a new interpreter: the compiler starts threads, which no later test may inherit."""
    assert set(spawn.call(attach.attach_while_compiling)) == {"dlx"}


def test_the_compiler_is_off_in_the_block_and_on_again_after_it() -> None:
    switch = torch._C._dynamo.eval_frame.set_eval_frame
    before = switch(False)
    try:
        with _layout.plain_tensors(torch):
            assert switch(None) is None
        assert switch(False) is False
    finally:
        switch(before)
