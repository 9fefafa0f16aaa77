"""With the table attached, torch still works: compiling, copying, pickling, other processes, overrides, inspection."""

from __future__ import annotations

import copy
import inspect
import io
import multiprocessing
import pickle
from typing import Any

import dlx_torch_ext
import pytest
import torch
import torch.overrides

from tests.snippets import torch_world
from tests.support.left_out import cases, left_out_if
from tests.support.process import spawn
from tests.support.table import table_under_test
from tests.support.tensors import Plain

ATTRIBUTES = ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__")
PROVIDER = dlx_torch_ext.attach().provider


def test_there_is_a_table() -> None:
    assert hasattr(torch.Tensor, ATTRIBUTES[0])


# Only what one function needs: one compiler at a time, no precompiled headers, no test of the vector units.
COMPILE_ENVIRONMENT = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
    "TORCHINDUCTOR_VEC_ISA_OK": "0",
}


def test_compile_and_export() -> None:
    """In a new interpreter: the compiler starts threads and processes, which no later test may inherit."""
    spawn.call(torch_world.compile_and_export, env=COMPILE_ENVIRONMENT)


TENSORS: dict[str, Any] = {
    "tensor": lambda: torch.arange(6.0).reshape(2, 3),
    "view": lambda: torch.arange(6.0).reshape(2, 3).t()[1:],
    "parameter": lambda: torch.nn.Parameter(torch.arange(3.0)),
    "requires_grad": lambda: torch.arange(3.0).requires_grad_(),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_copies_and_pickles(kind: str) -> None:
    tensor = TENSORS[kind]()
    saved = io.BytesIO()
    torch.save(tensor, saved)
    saved.seek(0)
    for again in (
        copy.copy(tensor),
        copy.deepcopy(tensor),
        pickle.loads(pickle.dumps(tensor)),
        torch.load(saved, weights_only=True),
    ):
        assert type(again) is type(tensor)
        assert again.requires_grad == tensor.requires_grad
        assert torch.equal(again, tensor)


def test_a_subclass_copies_and_inherits_the_table() -> None:
    tensor = torch.arange(3.0).as_subclass(Plain)
    assert type(copy.copy(tensor)) is Plain
    assert getattr(Plain, ATTRIBUTES[0]) is getattr(torch.Tensor, ATTRIBUTES[0])


def test_a_module_copies() -> None:
    layer = torch.nn.Linear(3, 2)
    again = copy.deepcopy(layer)
    assert all(torch.equal(a, b) for a, b in zip(layer.parameters(), again.parameters()))


START_METHODS = {
    method: (method not in multiprocessing.get_all_start_methods(), "the system does not have it")
    for method in ("fork", "spawn")
}


@pytest.mark.parametrize("method", cases(START_METHODS, START_METHODS))
def test_tensors_go_through_a_queue(method: str) -> None:
    assert spawn.call(torch_world.double_through_a_queue, method) == [0.0, 2.0, 4.0, 6.0]


def overridable() -> dict[Any, list[Any]]:
    """What a subclass can override, as torch finds it by looking at its classes and modules now."""
    function = torch.overrides._get_overridable_functions
    while not hasattr(function, "cache_clear"):
        function = function.__wrapped__
    function.cache_clear()
    return dict(torch.overrides.get_overridable_functions())


@pytest.mark.isolated
def test_overrides_do_not_see_the_attributes() -> None:
    attached = overridable()
    values = {name: vars(torch.Tensor)[name] for name in ATTRIBUTES if name in vars(torch.Tensor)}
    assert values
    for name in values:
        delattr(torch.Tensor, name)
    assert overridable() == attached
    seen: Any = property(lambda tensor: tensor)
    torch.Tensor.__dlpack_c_exchange_api__ = seen
    assert seen in overridable(), "torch sees an attribute of another kind"


def test_torch_function_still_works() -> None:
    calls: list[str] = []

    def record(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls.append(func.__name__)
        return torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})

    recording: Any = type("Recording", (torch.Tensor,), {"__torch_function__": classmethod(record)})
    assert type(torch.ones(2).as_subclass(recording) + 1) is recording
    assert "add" in calls or "__add__" in calls


def test_the_class_can_be_inspected() -> None:
    names = dir(torch.Tensor)
    assert ATTRIBUTES[0] in names
    assert "add" in names
    members = dict(inspect.getmembers(torch.Tensor))
    assert ATTRIBUTES[0] in members
    assert "tensor" in repr(torch.ones(1))
    assert "__dlpack_c_exchange_api__" not in vars(torch.ones(1))


def test_dlpack_of_python_still_works() -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    back = torch.from_dlpack(tensor)
    assert back.data_ptr() == tensor.data_ptr()
    assert torch.equal(back, tensor)
    again = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(tensor))
    assert again.data_ptr() == tensor.data_ptr()


def test_numpy_still_works() -> None:
    import numpy

    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    tensor = torch.from_numpy(array)
    for again in (tensor.numpy(), numpy.asarray(tensor), numpy.from_dlpack(tensor)):
        assert again.ctypes.data == array.ctypes.data
        assert (again.shape, again.strides, again.dtype) == (array.shape, array.strides, array.dtype)
    tensor[1, 2] = 50.0
    assert array.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 50.0]]


@left_out_if(PROVIDER != "dlx", f"the table in use is not ours but {PROVIDER}")
def test_numpys_memory_goes_through_the_table() -> None:
    import numpy

    array = numpy.arange(6, dtype=numpy.float32)
    raw = table_under_test().dltensor(torch.from_numpy(array)[2:])
    assert raw.data == array.ctypes.data + 8


@left_out_if(not torch.distributed.is_available(), "torch is built without torch.distributed")
def test_distributed_tensors_import() -> None:
    spawn.call(torch_world.import_distributed_tensors)
