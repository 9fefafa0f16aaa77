"""Which library every backend gets on this torch, and that its table passes the self-test.

What was seen is recorded in pytest's report, from which ./dev test makes a table. A build of torch has one backend:
for `cpu` and `rocm` this one is told, before our package looks, that it was built for nothing, or for HIP, and a
libc10_hip of the tests' own stands in.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest

from tests.support.process import spawn

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])
ROW = f"torch{TORCH[0]}_{TORCH[1]}_"
HAS_A_TABLE = TORCH >= (2, 10)
NPU = importlib.util.find_spec("torch_npu") is not None
CLEAN = dict.fromkeys(["DLX_TORCH_DISABLE", "DLX_TORCH_PREFER", "DLX_TORCH_LIBRARY", "TORCH_DEVICE_BACKEND_AUTOLOAD"])

CODE = """
import json, torch
BEFORE
import dlx_torch_ext
from dlx_torch_ext._selftest import problem
from tests.support.table import capsule_address
status = dlx_torch_ext.attach()
table = capsule_address(torch.Tensor.__dlpack_c_exchange_api__)
print(json.dumps({
    "provider": status.provider, "backend": status.backend, "library": status.library or "", "reason": status.reason,
    "self-test": problem(torch, table, ours=status.provider == "dlx") or "passed",
}))"""

PRETENCE = {
    "cpu": "torch.version.cuda = torch.version.hip = None; torch._C._has_cuda = False",
    "rocm": "torch.version.cuda, torch.version.hip = None, '6.2.41133'",
    "torch_npu": "import torch_npu",
}


@functools.cache
def build() -> str:
    """The backend that this torch was built for."""
    return str(spawn.code("import torch; print('\"cuda\"' if torch.version.cuda else '\"cpu\"')").value)


def here() -> list[str]:
    if NPU:
        return ["torch_npu"]
    return [*dict.fromkeys(["cpu", build()]), *(["rocm"] if platform.machine() == "x86_64" else [])]


def seen(backend: str, record: Callable[[str, object], None], **settings: str) -> Any:
    env: dict[str, str | None] = {**CLEAN, "DLX_TORCH_AUTOLOAD": "0", **settings}
    if backend == "rocm":
        from tests.simulators.rocm import environment

        env = {**environment(1 if TORCH < (2, 11) else 2), **env}
    answer = spawn.code(CODE.replace("BEFORE", PRETENCE.get(backend, "")), env=env).value
    asked = ", ".join(f"{name}={value}" for name, value in settings.items())
    shown = {"python": platform.python_version(), "machine": platform.machine(), "torch": version("torch")}
    place = "/".join(answer["library"].split("/")[-2:])  # below _lib, or below torch
    shown |= {"build": backend, "asked": asked, "loaded": place, "self-test": answer["self-test"]}
    record("loaded", json.dumps(shown))
    return answer


def part_of_library(answer: Any) -> list[str]:
    """Folder and backend of the library: ["torch2_9_cxx11", "cuda"]."""
    folder, file = answer["library"].split("/")[-2:]
    return [folder, file.partition("libdlx_torch_")[2].partition(".")[0]]


@pytest.mark.parametrize("backend", [build()] if HAS_A_TABLE and not NPU else here())
def test_by_default(backend: str, record_property: Callable[[str, object], None]) -> None:
    answer = seen(backend, record_property)
    assert answer["self-test"] == "passed"
    if not HAS_A_TABLE:
        assert [answer["provider"], answer["backend"]] == ["dlx", backend]
        folder, found = part_of_library(answer)
        assert folder.startswith(ROW)
        assert found == backend
    elif NPU:
        assert answer["provider"] == "overlay"
        assert part_of_library(answer) == ["overlay", "torch_npu"]
    else:
        assert answer["provider"] == "upstream"
        assert "libtorch_python" in answer["library"]


def test_the_doctor_says_so() -> None:
    # torch 2.4 calls no extension when it is imported, so it is attached by hand.
    code = """
        import sys, torch, dlx_torch_ext
        from dlx_torch_ext._cli import main
        dlx_torch_ext.attach()
        sys.exit(main(["doctor", "--selftest"]))"""
    told = spawn.code(code, env={**CLEAN})
    assert told.status == 0, told
    assert "\nself-test passed: " in told.stdout, told


if HAS_A_TABLE and not NPU:

    @pytest.mark.parametrize("backend", here())
    def test_where_ours_is_preferred(backend: str, record_property: Callable[[str, object], None]) -> None:
        answer = seen(backend, record_property, DLX_TORCH_PREFER="dlx")
        assert [answer["provider"], answer["backend"], answer["self-test"]] == ["dlx", backend, "passed"]
        folder, found = part_of_library(answer)
        assert folder.startswith(ROW)
        assert found == backend
