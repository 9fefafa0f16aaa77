"""torch's own world still works with the table attached: compiling, copying, pickling, forking, overriding, looking."""

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

from tests.support.process import spawn
from tests.support.table import load
from tests.support.tensors import Plain

ATTRIBUTES = ("__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__")
PROVIDER = dlx_torch_ext.attach().provider


def test_there_is_a_table() -> None:
    assert hasattr(torch.Tensor, ATTRIBUTES[0])


# A process of its own: the compiler starts threads and workers, which no later test of this one may inherit.
COMPILE = """
import torch, dlx_torch_ext
dlx_torch_ext.attach()

def f(x, y):
    return torch.relu(x @ y) + x.sum()

x, y = torch.randn(4, 4), torch.randn(4, 4)
torch.testing.assert_close(torch.compile(f, fullgraph=True)(x, y), f(x, y))
layer = torch.nn.Linear(4, 2)
exported = torch.export.export(layer, (y,))
torch.testing.assert_close(exported.module()(y), layer(y))
print("true")
"""
# One compiler at a time, no headers compiled beforehand, no trial of vector units: one function is enough.
COMPILE_ENVIRONMENT = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
    "TORCHINDUCTOR_VEC_ISA_OK": "0",
}


def test_compile_and_export() -> None:
    assert spawn.code(COMPILE, env=COMPILE_ENVIRONMENT).value


TENSORS: dict[str, Any] = {
    "tensor": lambda: torch.arange(6.0).reshape(2, 3),
    "view": lambda: torch.arange(6.0).reshape(2, 3).t()[1:],
    "parameter": lambda: torch.nn.Parameter(torch.arange(3.0)),
    "requires_grad": lambda: torch.arange(3.0).requires_grad_(),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_copies_and_pickles(kind: str) -> None:
    tensor = TENSORS[kind]()
    load_whole = io.BytesIO()
    torch.save(tensor, load_whole)
    load_whole.seek(0)
    for again in (
        copy.copy(tensor),
        copy.deepcopy(tensor),
        pickle.loads(pickle.dumps(tensor)),
        torch.load(load_whole, weights_only=True),
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


def _double(inbox: Any, outbox: Any) -> None:
    """Stays until the answer has arrived: the memory is handed over by the process that made it."""
    outbox.put(inbox.get() * 2)
    assert inbox.get() == "arrived"


SPAWN = """
import multiprocessing
import torch
import torch.multiprocessing
from tests.integration.test_torch_world import _double

if __name__ == "__main__":
    context = torch.multiprocessing.get_context("{method}")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=_double, args=(inbox, outbox))
    process.start()
    inbox.put(torch.arange(4.0))
    got = outbox.get()
    assert got.tolist() == [0.0, 2.0, 4.0, 6.0]
    inbox.put("arrived")
    process.join()
    assert process.exitcode == 0, process.exitcode
    print("true")
"""


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()])
def test_tensors_go_through_a_queue(method: str) -> None:
    assert spawn.code(SPAWN.format(method=method)).value


def test_overrides_do_not_see_the_attributes() -> None:
    overridable = torch.overrides.get_overridable_functions()[torch.Tensor]
    overrides = torch.overrides.get_testing_overrides()
    for name in ATTRIBUTES:
        assert not any(getattr(function, "__name__", "") == name for function in overridable)
        assert not any(getattr(function, "__name__", "") == name for function in overrides)
    assert torch.overrides.is_tensor_method_or_property(torch.Tensor.add)


def test_torch_function_still_works() -> None:
    calls: list[str] = []

    def record(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls.append(func.__name__)
        return torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})

    recording: Any = type("Recording", (torch.Tensor,), {"__torch_function__": classmethod(record)})
    assert type(torch.ones(2).as_subclass(recording) + 1) is recording
    assert "add" in calls or "__add__" in calls


def test_the_class_can_be_looked_through() -> None:
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
    assert tensor.numpy() is not None
    assert numpy.from_dlpack(tensor).sum() == array.sum()


if PROVIDER == "dlx":

    def test_numpys_memory_goes_through_the_table() -> None:
        import numpy

        array = numpy.arange(6, dtype=numpy.float32)
        raw = load().dltensor(torch.from_numpy(array)[2:])
        assert raw.data == array.ctypes.data + 8


if torch.distributed.is_available():

    def test_distributed_tensors_import() -> None:
        assert spawn.code("import torch.distributed.tensor\nprint('true')").value
