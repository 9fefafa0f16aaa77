"""The exchange table under test, called as a C consumer calls it and read as Python.

Which table: `DLX_TEST_TABLE` (pytest's `--table`) names ours ("dlx"), torch's own ("upstream") or torch-c-dlpack-ext's
("peer"). Every call checks the protocol itself: -1 and an exception always come together, 0 and none always do.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
from dataclasses import dataclass
from typing import Any, Callable

from tests.support.probe import probe, probe_without_gil
from tests.support.structs import (
    ALLOCATOR,
    CAPSULE_NAME,
    DELETER,
    SET_ERROR,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLTensor,
    dims,
)

PREFIX = "dlx-torch: "


def chosen() -> str:
    return os.environ.get("DLX_TEST_TABLE", "dlx")


@dataclass(frozen=True)
class Outcome:
    """What one call left behind. `error` is the Python exception, or for the allocator what SetError was told."""

    rc: int
    error: BaseException | None

    def check(self) -> None:
        assert self.rc in (0, -1), f"the function returned {self.rc}"
        assert (self.rc == -1) == (self.error is not None), f"returned {self.rc} with exception {self.error!r}"
        if self.error is not None:
            raise self.error


class AllocatorError(Exception):
    """What SetError was told: `kind` is the name of a Python exception, the text is the message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Managed:
    """An owning tensor that came out of the table; `delete` gives it back, once."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.raw = DLManagedTensorVersioned.from_address(address)
        self.tensor: Any = self.raw.dl_tensor
        self.open = True

    @property
    def shape(self) -> tuple[int, ...] | None:
        return dims(self.tensor.shape, self.tensor.ndim)

    @property
    def strides(self) -> tuple[int, ...] | None:
        return dims(self.tensor.strides, self.tensor.ndim)

    def release(self) -> int:
        """The address, for a function that takes ownership."""
        assert self.open
        self.open = False
        return self.address

    def delete(self, how: Callable[[int], Any] | None = None) -> None:
        """Runs the deleter, without the GIL unless `how` runs it otherwise."""
        deleter = self.raw.deleter
        address = self.release()
        if how is not None:
            how(address)
        elif deleter:
            DELETER(deleter)(address)


class Table:
    """The five functions of a `DLPackExchangeAPI` at an address."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.raw = DLPackExchangeAPI.from_address(address)

    # Each function twice: `try_` answers what happened, the plain name answers the result or raises.

    def try_dltensor(self, obj: object, pending: bool = False) -> tuple[Outcome, DLTensor]:
        out = DLTensor()
        return _two(self.raw.dltensor_from_py_object_no_sync, id(obj), ctypes.addressof(out), pending), out

    def dltensor(self, obj: object) -> DLTensor:
        outcome, out = self.try_dltensor(obj)
        outcome.check()
        return out

    def try_export(self, obj: object, pending: bool = False) -> tuple[Outcome, Managed | None]:
        out = ctypes.c_void_p()
        outcome = _two(self.raw.managed_tensor_from_py_object_no_sync, id(obj), ctypes.addressof(out), pending)
        return outcome, Managed(out.value) if outcome.rc == 0 and out.value else None

    def export(self, obj: object) -> Managed:
        outcome, out = self.try_export(obj)
        outcome.check()
        assert out is not None, "returned 0 and no tensor"
        return out

    def try_to_torch(self, address: int, pending: bool = False) -> tuple[Outcome, Any]:
        out = ctypes.c_void_p()
        outcome = _two(self.raw.managed_tensor_to_py_object_no_sync, address, ctypes.addressof(out), pending)
        return outcome, _take(out.value) if outcome.rc == 0 else None

    def to_torch(self, address: int) -> Any:
        """The table's tensor around the DLManagedTensorVersioned at `address`, which it owns from now on."""
        outcome, made = self.try_to_torch(address)
        outcome.check()
        return made

    def try_allocate(self, prototype: DLTensor, error_ctx: int = 0x5EED) -> tuple[Outcome, Managed | None]:
        """Called without the GIL, as it may be."""
        told: list[AllocatorError] = []

        def set_error(ctx: int | None, kind: bytes, message: bytes) -> None:
            assert ctx == error_ctx, f"SetError got the context {ctx}"
            told.append(AllocatorError(kind.decode(), message.decode()))

        out = ctypes.c_void_p()
        callback = SET_ERROR(set_error)
        rc = ALLOCATOR(self.raw.managed_tensor_allocator)(
            ctypes.addressof(prototype), ctypes.byref(out), error_ctx, ctypes.cast(callback, ctypes.c_void_p)
        )
        assert len(told) == (0 if rc == 0 else 1), f"returned {rc} and told SetError {told}"
        return Outcome(rc, told[0] if told else None), Managed(out.value) if rc == 0 and out.value else None

    def allocate(self, prototype: DLTensor) -> Managed:
        outcome, made = self.try_allocate(prototype)
        outcome.check()
        assert made is not None, "returned 0 and no tensor"
        return made

    def allocate_on_new_thread(self, prototype: DLTensor) -> tuple[int, Managed | None]:
        """On a thread without a Python thread state, and without a SetError."""
        out = ctypes.c_void_p()
        rc = probe_without_gil().probe_allocate_on_new_thread(
            self.raw.managed_tensor_allocator, ctypes.addressof(prototype), ctypes.addressof(out)
        )
        return rc, Managed(out.value) if rc == 0 and out.value else None

    def try_stream(self, device_type: int, device_id: int, pending: bool = False) -> tuple[Outcome, int | None]:
        """The answer starts as the sentinel `UNTOUCHED`; NULL is None."""
        out, rc = ctypes.c_void_p(UNTOUCHED), ctypes.c_int(-2)
        error: BaseException | None = None
        try:
            probe().probe_stream(
                self.raw.current_work_stream,
                device_type,
                device_id,
                ctypes.addressof(out),
                pending,
                ctypes.addressof(rc),
            )
        except BaseException as caught:  # whatever the table set
            error = caught.with_traceback(None)
        return Outcome(rc.value, error), out.value

    def stream(self, device_type: int, device_id: int) -> int | None:
        outcome, out = self.try_stream(device_type, device_id)
        outcome.check()
        return out


UNTOUCHED = 0xF00D


def _two(function: int, first: int, second: int, pending: bool) -> Outcome:
    rc = ctypes.c_int(-2)
    error: BaseException | None = None
    try:
        probe().probe_two(function, first, second, pending, ctypes.addressof(rc))
    except BaseException as caught:  # whatever the table set
        error = caught.with_traceback(None)  # frames hold references, and references are counted here
    return Outcome(rc.value, error)


def _take(address: int | None) -> Any:
    """A Python object from a pointer to a new reference."""
    assert address, "returned 0 and no object"
    made = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))
    return made


def capsule_address(capsule: object) -> int:
    """The address of the table in a capsule of the right name; ValueError for any other."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, CAPSULE_NAME))


@functools.cache
def load() -> Table:
    """The table that `DLX_TEST_TABLE` names, on this process's torch."""
    which = chosen()
    if which == "dlx":
        import torch

        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):  # torch 2.4 has no autoload
            import dlx_torch_ext

            dlx_torch_ext.attach(strict=True)
        import dlx_torch_ext

        status = dlx_torch_ext.status()
        assert status.provider == "dlx", f"the table in use is not ours: {status}"
    else:
        os.environ["DLX_TORCH_DISABLE"] = "1"
        import torch

        if which == "peer":
            importlib.import_module("torch_c_dlpack_ext")
    return Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))


def refuses(kind: type[BaseException], call: Callable[..., Any], *arguments: Any) -> str:
    """Asserts that `call(*arguments)` raises exactly `kind` with one line of ours; answers the line."""
    raised: BaseException | None = None
    result = None
    try:
        result = call(*arguments)
    except BaseException as error:
        raised = error
    assert raised is not None, f"{kind.__name__} expected, got {result!r}"
    name = raised.kind if isinstance(raised, AllocatorError) else type(raised).__name__
    text = str(raised)
    assert name == kind.__name__, f"{name} instead of {kind.__name__}: {text[:200]}"
    if chosen() == "dlx":
        assert text.startswith(PREFIX), f"not a text of ours: {text!r}"
        assert len(text.splitlines()) == 1, f"more than one line: {text!r}"
        assert text[len(PREFIX) :].strip(), "no text"
    return text
