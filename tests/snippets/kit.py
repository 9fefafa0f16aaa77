"""The kit in processes of their own: with simulated CUDA and with no table, and in other interpreters."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

from tests.support.kit import kit


def attached_later() -> list[object]:
    """A call before torch.Tensor has a table, and one after that; the process was started with DLX_TORCH_AUTOLOAD=0."""
    import torch

    before = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    first = kit().saxpy(1.0, torch.ones(2), torch.ones(2)).tolist()
    import dlx_torch_ext

    provider = dlx_torch_ext.attach().provider
    second = kit().saxpy(1.0, torch.ones(2), torch.ones(2)).tolist()
    dlx_torch_ext.detach()
    kit().forget_tables()
    third = kit().saxpy(1.0, torch.ones(2), torch.ones(2)).tolist()
    return [before, provider, first, second, third]


def in_other_interpreters(file: str) -> list[int]:
    """Runs the kit in interpreters of their own, one after the other, on a type with a table that each one makes."""
    interpreters: Any = importlib.import_module("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\nfrom tests.snippets.kit import call_a_type\ncall_a_type({file!r})"
    )
    for _ in range(20):  # more than there are places
        interpreter = interpreters.create()
        problem = interpreters.run_string(interpreter, program)  # from CPython 3.13 on it does not raise
        assert problem is None, problem
        interpreters.destroy(interpreter)
    call_a_type(file)
    return [20]


def call_a_type(file: str) -> None:
    """Without torch and ctypes, which not every interpreter can import: the type's table is one of the kit's own."""
    spec = importlib.util.spec_from_file_location("kit", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kind = type("Number", (), {"__dlpack_c_exchange_api__": module.constant_table()})
    for _ in range(300):
        shape, _, dtype, device, _ = module.describe(kind())
        assert (shape, dtype, device) == ((), "int64", "cpu")
    assert module.is_remembered(kind), "interpreters that have ended still have the places"


def by_many_threads(seconds_of_work: int) -> int:
    """Threads that call with many types at once, while others attach and detach."""
    import torch

    from tests.support.kit_tables import of_type, tensor_type

    kinds = [tensor_type() for _ in range(12)]
    tables = [kind.__dlpack_c_exchange_api__ for kind in kinds]
    errors: list[BaseException] = []

    def call() -> None:
        try:
            for i in range(seconds_of_work * 200):
                assert kit().describe(of_type(kinds[i % 12], 3))[0] == (3,)
                assert kit().saxpy(1.0, torch.ones(2), torch.ones(2)).tolist() == [2.0, 2.0]
        except BaseException as error:
            errors.append(error)

    def change() -> None:
        for i in range(seconds_of_work * 200):
            kinds[i % 12].__dlpack_c_exchange_api__ = None if i % 2 else tables[i % 12]
            kit().forget_tables()

    threads = [threading.Thread(target=target) for target in (call, call, call, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return len(threads)


def streams() -> dict[str, object]:
    """The devices and streams of calls on simulated CUDA, as numbers of torch's own."""
    import torch

    x = [torch.ones(2, device=f"cuda:{i}") for i in (0, 1)]
    host = torch.ones(2)
    side = [torch.cuda.Stream(device=i) for i in (0, 1)]
    seen: dict[str, object] = {"default": kit().where(x[0]), "host": kit().where(host)}
    for i in (0, 1):
        with torch.cuda.stream(side[i]):
            torch.cuda.set_device(1 - i)  # another one than the tensors'
            device, stream = kit().where(x[i], x[i], host)
            seen[f"side {i}"] = [device, stream == side[i].cuda_stream]
            assert torch.cuda.current_device() == 1 - i
            torch.cuda.set_device(i)
            assert kit().where(x[i])[1] == side[i].cuda_stream
    seen["errors"] = [message(kit().where, *given) for given in ((x[0], x[1]), (x[0], host), (host, x[0], x[1]))]
    seen["made"] = str(kit().new(x[1], 2, 2).device)
    seen["made beside the host"] = str(kit().saxpy(1.0, host, host).device)
    kit().record_stream(x[1], side[1].cuda_stream)
    kit().record_stream(host, side[1].cuda_stream)
    return seen


def message(function: Any, *given: Any) -> str:
    try:
        function(*given)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def with_tvm_ffis_tensors() -> list[object]:
    """tvm-ffi's own tensors beside torch's and numpy's in one call."""
    import numpy as np
    import torch
    import tvm_ffi

    own = tvm_ffi.from_dlpack(torch.arange(3.0))
    array = np.ones(3, dtype=np.float32)
    made = kit().saxpy(2.0, own, torch.ones(3), array)
    refused = message(kit().saxpy, 2.0, own, array)
    return [type(own).__module__, made is array, array.tolist(), refused]
