"""The self-test finds every kind of wrong table: each test breaks one thing in the correct table of a fake torch."""

from __future__ import annotations

import ctypes
import gc
from typing import Any, Callable

import pytest
from dlx_torch_ext import _load, _selftest

from tests.support import fake_torch, stub
from tests.support.installation import facts
from tests.support.structs import DELETER, DLManagedTensorVersioned, DLTensor
from tests.unit.test_load import attempt

SetModule = Callable[..., Any]


@pytest.fixture
def torch(set_module: SetModule) -> Any:
    return set_module(fake_torch.torch(whole=True))


def problem(torch: Any, ours: bool = True) -> str:
    library = attempt(stub.compiled())
    assert isinstance(library, _load.Library)
    return _selftest.problem(torch, library.table, ours=ours)


def test_a_correct_table_passes_and_leaves_nothing_behind(torch: Any) -> None:
    assert problem(torch) == ""
    assert torch.exports == {}
    assert _selftest._kept_alive == []
    gc.collect()
    assert facts().settings.problem == ""


def _spoil(field: str, value: Any) -> Callable[[Any], None]:
    """Changes one field of what the table exports."""

    def spoil(torch: Any) -> None:
        def export(tensor: Any, out: int) -> int:
            described = DLTensor.from_address(out)
            fake_torch.fill(torch, tensor, described)
            target: Any = described
            *path, last = field.split(".")
            for name in path:
                target = getattr(target, name)
            if last in ("shape", "strides"):
                getattr(target, last)[1] = value
            else:
                setattr(target, last, value)
            return 0

        torch.fake_export = export

    return spoil


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("data", 64, "data of an exported tensor"),
        ("byte_offset", 4, "data of an exported tensor"),
        ("ndim", 512, "ndim of an exported tensor: 512, expected 2"),
        ("ndim", -1, "ndim of an exported tensor: -1, expected 2"),
        ("ndim", 1, "ndim of an exported tensor: 1, expected 2"),
        ("device.device_type", 2, "device of an exported tensor: DLPack device type 2:0, expected cpu:0"),
        ("device.device_id", 1, "device of an exported tensor: cpu:1, expected cpu:0"),
        ("dtype.code", 0, "dtype of an exported tensor: int32, expected float32"),
        ("dtype.code", 99, "dtype of an exported tensor: DLPack dtype code 99, bits 32, expected float32"),
        ("dtype.bits", 64, "dtype of an exported tensor: float64, expected float32"),
        ("dtype.lanes", 0, "dtype of an exported tensor: float32 x 0 lanes, expected float32"),
        ("shape", 4, "shape of an exported tensor"),
        ("strides", 1, "strides of an exported tensor"),
    ],
)
def test_a_wrong_field(field: str, value: int, words: str, torch: Any) -> None:
    _spoil(field, value)(torch)
    found = problem(torch)
    assert found.startswith("the self-test failed: ")
    assert words in found


def test_null_strides(torch: Any) -> None:
    def export(tensor: Any, out: int) -> int:
        fake_torch.fill(torch, tensor, DLTensor.from_address(out))
        DLTensor.from_address(out).strides = None
        return 0

    torch.fake_export = export
    assert "strides of an exported tensor: None" in problem(torch)


def test_an_error_code_without_an_exception(torch: Any) -> None:
    torch.fake_export = lambda tensor, out: -1
    assert "returned -1 without an exception, expected 0" in problem(torch)


def test_an_exception(torch: Any) -> None:
    def export(tensor: Any, out: int) -> int:
        raise RuntimeError("no")

    torch.fake_export = export
    assert problem(torch) == "the self-test failed: RuntimeError: no"


def test_a_managed_export_of_another_major_version(torch: Any) -> None:
    right = torch.fake_export_owning

    def export(tensor: Any, out: int) -> int:
        right(tensor, out)
        managed = ctypes.c_void_p.from_address(out).value
        DLManagedTensorVersioned.from_address(managed or 0).version.major = 2
        return 0

    torch.fake_export_owning = export
    assert "major version of an exported tensor: 2, expected 1" in problem(torch)


def test_no_managed_export(torch: Any) -> None:
    torch.fake_export_owning = lambda tensor, out: 0
    assert "returned 0, but no tensor" in problem(torch)


def test_a_deleter_that_never_runs(torch: Any) -> None:
    right = torch.fake_import
    kept = []

    def hoard(managed: int) -> Any:
        kept.append(right(managed))
        return kept[-1]

    torch.fake_import = hoard
    assert "calls of the deleter after the last view: 0, expected 1" in problem(torch)
    assert _selftest._kept_alive, "what a late deleter would read stays alive"
    kept.clear()
    _selftest._kept_alive.clear()


def test_a_deleter_that_runs_too_early(torch: Any) -> None:
    right = torch.fake_import

    def take(managed: int) -> Any:
        DELETER(DLManagedTensorVersioned.from_address(managed).deleter)(managed)
        return right(managed)

    torch.fake_import = take
    assert "calls of the deleter while a view is alive: 1, expected 0" in problem(torch)
    _selftest._kept_alive.clear()


def test_an_imported_tensor_of_another_type(torch: Any) -> None:
    torch.fake_import = lambda managed: object()
    assert "type of an imported tensor" in problem(torch)
    _selftest._kept_alive.clear()


def test_an_export_that_leaks_its_tensor(torch: Any) -> None:
    right = torch.fake_export_owning
    leaked = []

    def export(tensor: Any, out: int) -> int:
        leaked.append(tensor)
        return int(right(tensor, out))

    torch.fake_export_owning = export
    assert "reference count after an export" in problem(torch)


def test_an_object_that_is_not_a_tensor_must_raise_type_error(torch: Any) -> None:
    right = torch.fake_export

    def lenient(tensor: Any, out: int) -> int:
        return int(right(tensor, out)) if isinstance(tensor, torch.Tensor) else 0

    torch.fake_export = lenient
    assert "an object that is not a tensor it returned 0 without an exception" in problem(torch)

    def wrong_kind(tensor: Any, out: int) -> int:
        if not isinstance(tensor, torch.Tensor):
            raise RuntimeError("no tensor")
        return int(right(tensor, out))

    torch.fake_export = wrong_kind
    assert "TypeError" in problem(torch)
    assert problem(torch, ours=False) == "", "tables of others may raise another exception"
