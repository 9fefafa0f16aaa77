"""Calls functions in a fork with torch_npu on a simulated Ascend: the fork saves the seconds that its import takes."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

from tests.simulators.ascend import recorder
from tests.support.process import fork


def call(function: Callable[..., Any], *arguments: object, **env: str | None) -> Any:
    """The result of the function. `env` must hold nothing that is read when torch_npu is imported."""
    _import_torch_npu()
    return fork.call(function, *arguments, env=env)


@functools.cache
def _import_torch_npu() -> None:
    """In this process, so that no fork has to. This initialises no device."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of torch_npu
        importlib.import_module("torch_npu")
    assert recorder.simulated(), "this process was not started on a simulated Ascend, as ./dev test does"
