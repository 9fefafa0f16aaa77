"""dlx_torch_ext.testing.probe: its table answers as it is told and records what it was asked."""

from __future__ import annotations

import gc
import importlib.util
import subprocess
import sys
import threading
import warnings
import weakref
from typing import Any, Callable

import pytest
import torch
from dlx_torch_ext._dlpack import FUNCTIONS
from dlx_torch_ext.testing import probe

from tests.support.foreign_tensors import prototype
from tests.support.left_out import left_out_if
from tests.support.structs import CUDA, ROCM
from tests.support.table import AllocatorError, Outcome, Table, capsule_address
from tests.support.tensors import use_count

pytestmark = pytest.mark.isolated
ALLOCATE, EXPORT, IMPORT, VIEW, STREAM = FUNCTIONS


def table_of(tensor: Any) -> Table:
    return Table(capsule_address(type(tensor).__dlpack_c_exchange_api__))


def outcome_of(function: str, tensor: Any) -> Outcome:
    table = table_of(tensor)
    outcomes: dict[str, Callable[[], Any]] = {
        ALLOCATE: lambda: table.try_allocate(prototype((2,), device=(CUDA, 1))),
        EXPORT: lambda: table.try_export(tensor),
        IMPORT: lambda: table.try_to_torch(table_of(probe()).export(tensor.as_subclass(type(probe()))).release()),
        VIEW: lambda: table.try_dltensor(tensor),
        STREAM: lambda: table.try_stream(CUDA, 1),
    }
    outcome: Outcome = outcomes[function]()[0]
    return outcome


def test_a_view_claims_the_device_and_borrows_the_memory() -> None:
    x = probe(torch.arange(6.0).reshape(2, 3).t())
    view = table_of(x).dltensor(x)
    assert (view.device.device_type, view.device.device_id) == (CUDA, 1)
    assert (view.data, tuple(view.shape[:2]), tuple(view.strides[:2])) == (x.data_ptr(), (3, 2), (1, 3))
    again = table_of(x).dltensor(x)
    assert tuple(view.shape[:2]) == tuple(again.shape[:2])
    assert x.probe.asked(VIEW) == [(VIEW, (CUDA, 1), (3, 2), None)] * 2


def test_the_sizes_of_a_borrowed_view_live_as_long_as_its_tensor() -> None:
    """Memory that was freed would be that of the next view's sizes."""
    x = probe((20, 3))
    parts = [x[:count] for count in range(2, 21)]  # a single row may have any stride
    views = [table_of(x).dltensor(part) for part in parts]
    assert [(*view.shape[:2], *view.strides[:2]) for view in views] == [(count, 3, 3, 1) for count in range(2, 21)]


def test_a_view_that_was_borrowed_before_the_sizes_changed_keeps_those_it_has() -> None:
    x = probe((2, 3))
    views = []
    for _ in range(10):
        views += [table_of(x).dltensor(x)]
        x.t_()
    assert [tuple(view.shape[:2]) for view in views] == [(2, 3), (3, 2)] * 5


def test_a_borrowed_view_keeps_nothing_alive() -> None:
    x = probe((2, 3))
    count, seen = use_count(x), weakref.ref(x)
    for _ in range(10):
        table_of(x).dltensor(x)
    assert use_count(x) == count
    del x
    assert seen() is None


def test_an_export_owns_the_memory_until_its_deleter_has_run() -> None:
    x = probe(torch.full((4,), 7.0))
    export, storage = table_of(x).export(x), x.untyped_storage()
    count = storage._use_count() if hasattr(storage, "_use_count") else None
    answers, seen = x.probe, weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None
    assert export.shape == (4,)
    assert answers.asked("deleter") == []
    thread = threading.Thread(target=export.delete)  # without the GIL, on another thread
    thread.start()
    thread.join()
    assert len(answers.asked("deleter")) == 1
    assert count is None or storage._use_count() < count


def test_what_is_allocated_comes_back_as_the_same_type() -> None:
    x = probe()
    table = table_of(x)
    made = table.to_torch(
        table.allocate(
            prototype(
                (
                    2,
                    5,
                ),
                device=(CUDA, 1),
            )
        ).release()
    )
    assert (type(made), made.shape, made.dtype) == (type(x), (2, 5), torch.float32)
    made.fill_(3)
    assert x.probe.asked(ALLOCATE) == [(ALLOCATE, (CUDA, 1), (2, 5), None)]
    view = made[1:]
    del made
    assert x.probe.asked("deleter") == []
    assert view.tolist() == [[3.0] * 5]
    del view
    assert len(x.probe.asked("deleter")) == 1


def test_the_allocator_needs_neither_the_gil_nor_set_error() -> None:
    x = probe()
    rc, made = table_of(x).allocate_on_new_thread(prototype((2,), device=(CUDA, 1)))
    assert rc == 0
    assert made is not None
    made.delete()
    x.probe.fail[ALLOCATE] = MemoryError("none left")
    assert table_of(x).allocate_on_new_thread(prototype((2,), device=(CUDA, 1))) == (-1, None)


def test_the_stream_is_what_was_told_last() -> None:
    x = probe(device=("rocm", 3), stream=7)
    assert table_of(x).stream(ROCM, 3) == 7
    x.probe.stream = 0
    assert table_of(x).stream(ROCM, 0) is None
    assert x.probe.asked(STREAM) == [(STREAM, (ROCM, 3), None, 7), (STREAM, (ROCM, 0), None, 0)]


@pytest.mark.parametrize("function", FUNCTIONS)
class TestAFunctionFails:
    def test_with_an_error(self, function: str) -> None:
        error = OSError("no reason")
        x = probe(fail={function: error})
        outcome = outcome_of(function, x)
        if function == ALLOCATE:
            assert isinstance(outcome.error, AllocatorError)
            assert (outcome.error.kind, str(outcome.error)) == ("OSError", "no reason")
        else:
            assert outcome.error is error
        assert len(x.probe.asked(function)) == 1

    def test_again_and_again_and_keeps_nothing(self, function: str) -> None:
        x = probe()
        counts = []
        for _ in range(50):
            x.probe.fail[function] = error = OSError()
            outcome_of(function, x)
            del x.probe.fail[function]
            counts.append(sys.getrefcount(error))
            outcome_of(function, x)
        fresh = OSError()
        assert set(counts) == {sys.getrefcount(fresh)}

    def test_with_a_number_and_no_error(self, function: str) -> None:
        if function == ALLOCATE:
            with pytest.raises(AssertionError, match=r"returned -7 and called SetError with \[\]"):
                outcome_of(function, probe(fail={function: -7}))
        else:
            assert outcome_of(function, probe(fail={function: -7})) == Outcome(-7, None)

    def test_by_being_null(self, function: str) -> None:
        raw = table_of(probe(fail={function: None})).raw
        assert {name for name in FUNCTIONS if not getattr(raw, name)} == {function}


def test_torchs_reason_is_kept() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = probe(torch._empty_affine_quantized((2,), scale=1.0, zero_point=0, dtype=torch.qint8))
    outcome, _ = table_of(x).try_dltensor(x)
    assert outcome.rc == -1
    assert "QInt types are not supported" in str(outcome.error)


def test_a_conjugate_view_is_refused() -> None:
    x = probe((2,), dtype=torch.complex64)
    for call in (table_of(x).dltensor, table_of(x).export, type(x).__dlpack__):
        with pytest.raises(BufferError, match="conjugate"):
            call(x.conj())


def test_a_dtype_that_torch_lacks_can_be_claimed() -> None:
    x = probe(dtype=(17, 4, 2))
    dtype = table_of(x).dltensor(x).dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == (17, 4, 2)


def test_the_table_of_another_version() -> None:
    version = table_of(probe(version=(2, 1))).raw.version
    assert (version.major, version.minor) == (2, 1)


def test_a_managed_tensor_of_another_version_stays_the_callers() -> None:
    x = probe()
    export = table_of(x).export(x)
    export.raw.version.major = 2
    outcome, _ = table_of(x).try_to_torch(export.address)
    assert str(outcome.error) == "DLPack 2.3; 1.x is needed"
    assert x.probe.asked("deleter") == []
    export.delete()


def test_the_slow_way_agrees() -> None:
    x = probe(torch.arange(3.0), device=("cpu", 0))
    assert x.__dlpack_device__() == (1, 0)
    assert torch.from_dlpack(x).tolist() == [0.0, 1.0, 2.0]
    assert [call.function for call in x.probe.calls] == ["__dlpack_device__", "__dlpack_device__", "__dlpack__"]
    x.probe.fail["__dlpack__"] = error = OSError()
    with pytest.raises(OSError) as raised:  # noqa: PT011
        x.__dlpack__(stream=5)
    assert raised.value is error
    assert x.probe.calls[-1] == ("__dlpack__", (1, 0), (3,), 5)


def test_the_same_tensor_is_shared_and_keeps_its_type() -> None:
    plain = torch.zeros(2)
    x = probe(plain)
    plain.fill_(1)
    assert (type(plain), x.tolist(), x.device.type) == (torch.Tensor, [1.0, 1.0], "cpu")
    assert type(x[1:]) is type(torch.empty_like(x)) is type(x)
    assert type(probe()) is not type(x)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"fail": {"stream": OSError()}},
            r"fail\['stream'\] is OSError\(\); an exception, a number or None for one of",
        ),
        ({"fail": {STREAM: "no"}}, r"fail\['current_work_stream'\] is 'no'; an exception"),
        ({"device": ("gpu", 1)}, r"the device 'gpu' is no DLDeviceType, and none of \('cpu', 'cuda'"),
        ({"source": torch.zeros(1, device="meta")}, "a tensor must be in host memory"),
        ({"source": torch.zeros(1), "dtype": torch.int8}, "a tensor must be in host memory and has its dtype"),
    ],
)
def test_arguments_that_make_no_sense(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        probe(**arguments)
    assert len(str(raised.value).splitlines()) == 1


@left_out_if(importlib.util.find_spec("tvm_ffi") is None, "tvm-ffi is not installed")
@pytest.mark.parametrize("stream", [0, 0xBEEF0])
def test_tvm_ffi_follows_the_stream_and_gives_the_reason(stream: int) -> None:
    import tvm_ffi

    x = probe(device=("cuda", 1), stream=stream)
    function = tvm_ffi.convert(lambda given: (given.device.type, given.device.index, given.shape))
    assert tuple(function(x)) == ("cuda", 1, (2, 3))
    assert [call.device for call in x.probe.asked(STREAM)] == [(CUDA, 1)]
    x.probe.fail[STREAM] = RuntimeError("no reason")
    with pytest.raises(RuntimeError, match="no reason"):
        function(x)
    del x.probe.fail[STREAM]
    x.probe.fail[EXPORT] = x.probe.fail[VIEW] = BufferError("no export")
    with pytest.raises(BufferError, match="no export"):
        function(x)


def test_the_import_does_not_import_torch() -> None:
    code = "import sys, dlx_torch_ext.testing; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_process_ends_while_consumers_hold_everything() -> None:
    code = """
import ctypes
from tests.integration.test_probe import *
x = probe()
table = table_of(x)
made = table.to_torch(table.allocate(prototype((2,), device=(CUDA, 1))).release())
kept = [x, table.export(x), table.dltensor(x)]
ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
