"""The table under test, called as C code calls it, with arguments and results of Python.

`DLX_TEST_TABLE` (pytest's `--table`) names the table: ours ("dlx"), torch's own ("upstream") or torch-c-dlpack-ext's
("peer"). Every call also checks that -1 comes with an exception, and 0 without one.
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
    read_int64s,
)

PREFIX = "dlx-torch: "


def table_name() -> str:
    return os.environ.get("DLX_TEST_TABLE", "dlx")


@dataclass(frozen=True)
class Outcome:
    """The result of a call. `error` is the Python exception or, for the allocator, the arguments of SetError."""

    rc: int
    error: BaseException | None

    def check(self) -> None:
        """Raises the error, if there is one."""
        assert self.rc in (0, -1), f"the function returned {self.rc}"
        assert (self.rc == -1) == (self.error is not None), f"returned {self.rc} with exception {self.error!r}"
        if self.error is not None:
            raise self.error


class AllocatorError(Exception):
    """The arguments of SetError: `kind` is the name of a Python exception."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ManagedTensor:
    """A managed tensor that the table has made. Exactly one call of `delete` or `release` ends its use here."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.raw = DLManagedTensorVersioned.from_address(address)
        self.tensor: Any = self.raw.dl_tensor
        self.owned = True

    @property
    def shape(self) -> tuple[int, ...] | None:
        return read_int64s(self.tensor.shape, self.tensor.ndim)

    @property
    def strides(self) -> tuple[int, ...] | None:
        return read_int64s(self.tensor.strides, self.tensor.ndim)

    def release(self) -> int:
        """The address, for a function that owns the tensor from now on."""
        assert self.owned
        self.owned = False
        return self.address

    def delete(self, how: Callable[[int], Any] | None = None) -> None:
        """Runs the deleter without the GIL, or in the way of `how`, which gets the address."""
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

    # Each function has two methods: `try_...` returns the outcome; the other one returns the result or raises.

    def try_dltensor(self, obj: object, pending: bool = False) -> tuple[Outcome, DLTensor]:
        out = DLTensor()
        return _call_with_two_pointers(
            self.raw.dltensor_from_py_object_no_sync, id(obj), ctypes.addressof(out), pending
        ), out

    def dltensor(self, obj: object) -> DLTensor:
        outcome, out = self.try_dltensor(obj)
        outcome.check()
        return out

    def try_export(self, obj: object, pending: bool = False) -> tuple[Outcome, ManagedTensor | None]:
        out = ctypes.c_void_p()
        outcome = _call_with_two_pointers(
            self.raw.managed_tensor_from_py_object_no_sync, id(obj), ctypes.addressof(out), pending
        )
        return outcome, ManagedTensor(out.value) if outcome.rc == 0 and out.value else None

    def export(self, obj: object) -> ManagedTensor:
        outcome, out = self.try_export(obj)
        outcome.check()
        assert out is not None, "returned 0 and no tensor"
        return out

    def try_to_torch(self, address: int, pending: bool = False, memory: bool = True) -> tuple[Outcome, Any]:
        """Without `memory`, CPython has none for new objects during the call."""
        out = ctypes.c_void_p()
        outcome = _call_with_two_pointers(
            self.raw.managed_tensor_to_py_object_no_sync, address, ctypes.addressof(out), pending, memory
        )
        return outcome, _object_of_new_reference(out.value) if outcome.rc == 0 else None

    def to_torch(self, address: int) -> Any:
        """A torch.Tensor with the memory of the managed tensor at `address`, which it owns from now on."""
        outcome, made = self.try_to_torch(address)
        outcome.check()
        return made

    def try_allocate(self, prototype: DLTensor, error_ctx: int = 0x5EED) -> tuple[Outcome, ManagedTensor | None]:
        """Calls the allocator without the GIL, as consumers may do."""
        errors: list[AllocatorError] = []

        def set_error(ctx: int | None, kind: bytes, message: bytes) -> None:
            assert ctx == error_ctx, f"SetError was called with the context {ctx}"
            errors.append(AllocatorError(kind.decode(), message.decode()))

        out = ctypes.c_void_p()
        callback = SET_ERROR(set_error)
        rc = ALLOCATOR(self.raw.managed_tensor_allocator)(
            ctypes.addressof(prototype), ctypes.byref(out), error_ctx, ctypes.cast(callback, ctypes.c_void_p)
        )
        assert len(errors) == (0 if rc == 0 else 1), f"returned {rc} and called SetError with {errors}"
        return Outcome(rc, errors[0] if errors else None), ManagedTensor(out.value) if rc == 0 and out.value else None

    def allocate(self, prototype: DLTensor) -> ManagedTensor:
        outcome, made = self.try_allocate(prototype)
        outcome.check()
        assert made is not None, "returned 0 and no tensor"
        return made

    def allocate_on_new_thread(self, prototype: DLTensor) -> tuple[int, ManagedTensor | None]:
        """On a thread that Python does not know, and without a SetError."""
        out = ctypes.c_void_p()
        rc = probe_without_gil().probe_allocate_on_new_thread(
            self.raw.managed_tensor_allocator, ctypes.addressof(prototype), ctypes.addressof(out)
        )
        return rc, ManagedTensor(out.value) if rc == 0 and out.value else None

    def try_stream(self, device_type: int, device_id: int, pending: bool = False) -> tuple[Outcome, int | None]:
        """The stream is `UNTOUCHED` if the function does not set it, and None if it sets NULL."""
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
        except BaseException as caught:  # any kind: the table has set it
            error = caught.with_traceback(None)
        return Outcome(rc.value, error), out.value

    def stream(self, device_type: int, device_id: int) -> int | None:
        outcome, out = self.try_stream(device_type, device_id)
        outcome.check()
        return out


UNTOUCHED = 0xF00D


def _call_with_two_pointers(function: int, first: int, second: int, pending: bool, memory: bool = True) -> Outcome:
    rc = ctypes.c_int(-2)
    error: BaseException | None = None
    try:
        if memory:
            probe().probe_two(function, first, second, pending, ctypes.addressof(rc))
        else:
            probe().probe_two_without_memory(function, first, second, ctypes.addressof(rc))
    except BaseException as caught:  # any kind: the table has set it
        error = caught.with_traceback(None)  # its frames hold references, and tests count those
    return Outcome(rc.value, error)


def _object_of_new_reference(address: int | None) -> Any:
    """The Python object of a pointer to a new reference, which is released."""
    assert address, "returned 0 and no object"
    made = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))
    return made


def capsule_address(capsule: object) -> int:
    """The address of the table in a capsule; ValueError if the capsule has another name."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, CAPSULE_NAME))


@functools.cache
def table_under_test() -> Table:
    """The table under test, on the torch of this process."""
    if table_name() == "dlx":
        import dlx_torch_ext
        import torch

        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):  # torch 2.4 does not call its extensions at import
            dlx_torch_ext.attach(strict=True)
        status = dlx_torch_ext.status()
        assert status.provider == "dlx", f"the table in use is not ours: {status}"
    else:
        os.environ["DLX_TORCH_DISABLE"] = "1"
        import torch

        if table_name() == "peer":
            importlib.import_module("torch_c_dlpack_ext")
    return Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))


def assert_refuses(kind: type[BaseException], call: Callable[..., Any], *arguments: Any) -> str:
    """Asserts that the call raises exactly `kind`, with one line if the table is ours; returns the text."""
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
    if table_name() == "dlx":
        assert text.startswith(PREFIX), f"does not begin with {PREFIX!r}: {text!r}"
        assert len(text.splitlines()) == 1, f"more than one line: {text!r}"
        assert text[len(PREFIX) :].strip(), "no text"
    return text
