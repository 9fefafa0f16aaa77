"""Our table on ROCm, as far as that goes here: a torch that says it was built for HIP, and a libc10_hip of our own.

It shows that the rocm library is chosen, loads, and hands on the current stream of either naming generation. No ROCm
build of torch and no AMD hardware takes part.
"""

from __future__ import annotations

import textwrap
from importlib.metadata import version
from typing import Any

import pytest

from tests.simulators.rocm import environment
from tests.support.process import spawn

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])

PREAMBLE = """
import ctypes, json, threading
import torch
torch.version.hip, torch.version.cuda = "6.2.41133", None
import dlx_torch_ext
status = dlx_torch_ext.attach()
assert (status.provider, status.backend) == ("dlx", "rocm"), status
from tests.simulators.rocm import recorder
from tests.support.structs import CPU, CUDA, CUDA_HOST, EXT_DEV, ROCM, ROCM_HOST
from tests.support.table import Table, capsule_address
table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))

def kinds(*asked):
    return [type(table.try_stream(*one)[0].error).__name__ for one in asked]
"""


def on_rocm(code: str, generation: int) -> Any:
    whole = f"{PREAMBLE}{textwrap.dedent(code)}\nprint(json.dumps(answer))"
    return spawn.code(whole, env={**environment(generation), "DLX_TORCH_AUTOLOAD": "0"}).value


# From 2.10 on torch has a table of its own, which stays.
if TORCH < (2, 10):

    @pytest.mark.parametrize("generation", [1, 2])
    def test_the_stream_arrives_for_both_device_types(generation: int) -> None:
        answer = on_rocm(
            """
            recorder.set_stream(0, 0x1110)
            recorder.set_stream(1, 0x2220)
            answer = [table.stream(kind, index) for kind in (ROCM, CUDA) for index in (0, 1)]
            seen = []
            def other():
                seen.append(table.stream(ROCM, 1))
                recorder.set_stream(1, 0x3330)
                seen.append(table.stream(ROCM, 1))
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            answer += [seen, table.stream(ROCM, 1), [table.stream(kind, 0) for kind in (CPU, CUDA_HOST, ROCM_HOST)],
                       kinds((ROCM, 2), (CUDA, -1), (ROCM, 128), (EXT_DEV, 0))]""",
            generation,
        )
        assert answer[:4] == [0x1110, 0x2220, 0x1110, 0x2220]
        (before, after), main, host, errors = answer[4:]
        assert before in (None, 0)
        assert (after, main) == (0x3330, 0x2220)
        assert host == [None] * 3
        assert errors == ["RuntimeError"] * 4

    def test_tensors_of_the_host_go_out_and_come_back() -> None:
        assert on_rocm(
            """
            x = torch.arange(6.0).reshape(2, 3).t()
            back = table.to_torch(table.export(x).release())
            answer = [back.tolist() == x.tolist(), back.data_ptr() == x.data_ptr()]""",
            1,
        ) == [True, True]

    def test_without_libc10_hip_the_library_is_refused_and_torch_imported() -> None:
        code = """
            import json, torch
            torch.version.hip, torch.version.cuda = "6.2.41133", None
            import dlx_torch_ext
            status = dlx_torch_ext.attach()
            print(json.dumps([status.provider, status.reason]))"""
        provider, reason = spawn.code(code, env={"DLX_TORCH_AUTOLOAD": "0"}).value
        assert provider == "none"
        assert "libc10_hip.so" in reason
