"""torch's modes as context managers, which return a list: what the mode has seen so far."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

import torch


@contextlib.contextmanager
def _mode(mode: Any) -> Iterator[list[str]]:
    with mode:
        yield []


def _fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return _mode(FakeTensorMode())


def _recording(base: Any, method: str) -> Any:
    """A mode that records every operation and then runs it."""
    seen: list[str] = []

    def record(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        seen.append(str(func))
        return func(*args, **(kwargs or {}))

    @contextlib.contextmanager
    def recording() -> Iterator[list[str]]:
        with type("Recording", (base,), {method: record})():
            yield seen

    return recording()


def _raising(base: Any, method: str) -> Any:
    """A mode that lets no operation run."""

    def refuse(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise LookupError(f"the mode was asked for {func}")

    return _mode(type("Raising", (base,), {method: refuse})())


def _dispatch() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    return _recording(TorchDispatchMode, "__torch_dispatch__")


def _function() -> Any:
    from torch.overrides import TorchFunctionMode

    return _recording(TorchFunctionMode, "__torch_function__")


def _raising_dispatch() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    return _raising(TorchDispatchMode, "__torch_dispatch__")


def _raising_function() -> Any:
    from torch.overrides import TorchFunctionMode

    return _raising(TorchFunctionMode, "__torch_function__")


def _flop_counter() -> Any:
    from torch.utils.flop_counter import FlopCounterMode

    return _mode(FlopCounterMode(display=False))


@contextlib.contextmanager
def _default_device() -> Iterator[list[str]]:
    torch.set_default_device("meta")
    try:
        yield []
    finally:
        torch.set_default_device(None)


@contextlib.contextmanager
def _deterministic() -> Iterator[list[str]]:
    torch.use_deterministic_algorithms(True)
    try:
        yield []
    finally:
        torch.use_deterministic_algorithms(False)


MODES: dict[str, Callable[[], Any]] = {
    "inference_mode": lambda: _mode(torch.inference_mode()),
    "no_grad": lambda: _mode(torch.no_grad()),
    "fake": _fake,
    "meta_device": lambda: _mode(torch.device("meta")),
    "default_device": _default_device,
    "deterministic": _deterministic,
    "dispatch": _dispatch,
    "function": _function,
}

# Those that are for code in Python only: kernels do not see them, and need not be tested in them.
PYTHON_MODES: dict[str, Callable[[], Any]] = {
    "raising_dispatch": _raising_dispatch,
    "raising_function": _raising_function,
    "flop_counter": _flop_counter,
    "dual_level": lambda: _mode(torch.autograd.forward_ad.dual_level()),
    "saved_tensors": lambda: _mode(torch.autograd.graph.save_on_cpu()),
}
