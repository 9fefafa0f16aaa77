"""Which library each backend gets on this torch, and that its table passes the self-test.

The results are recorded in pytest's report, and ./dev test makes a table of them. A build of torch has one backend. For
`cpu` and `rocm` this torch pretends, before our package looks, that it was built for no accelerator or for HIP; for
`rocm` there is also a libc10_hip of the tests.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest

from tests.simulators import rocm
from tests.snippets import attach
from tests.support.left_out import cases, left_out_if
from tests.support.process import spawn
from tests.support.this_torch import BUILT_FOR_CUDA, HAS_OWN_TABLE, HAS_TORCH_NPU, LINE, NAME

ROW = f"torch{LINE[0]}_{LINE[1]}_"
BUILT_FOR = "cuda" if BUILT_FOR_CUDA else "cpu"
NO_SETTINGS = dict.fromkeys(
    ["DLX_TORCH_DISABLE", "DLX_TORCH_PREFER", "DLX_TORCH_LIBRARY", "TORCH_DEVICE_BACKEND_AUTOLOAD"]
)


def why_not(backend: str, own_table: bool) -> str:
    """Why there is nothing to test for this backend here, or "". `own_table`: the table is torch's own."""
    if (backend == "torch_npu") != HAS_TORCH_NPU:
        return "torch_npu is installed and comes first" if HAS_TORCH_NPU else "torch_npu is not installed"
    if backend == "cuda" and not BUILT_FOR_CUDA:
        return "torch is not built for CUDA"
    if backend == "rocm" and platform.machine() != "x86_64":
        return "there is no library for ROCm on this processor"
    if own_table and backend not in (BUILT_FOR, "torch_npu"):
        return f"{NAME} uses a table of its own, whatever backend it pretends to be built for"
    return ""


def backends(own_table: bool) -> list[Any]:
    reasons = {backend: why_not(backend, own_table) for backend in ("cpu", "cuda", "rocm", "torch_npu")}
    return cases(reasons, {backend: (reason, reason) for backend, reason in reasons.items()})


def seen(backend: str, record: Callable[[str, object], None], **settings: str) -> Any:
    env: dict[str, str | None] = {**NO_SETTINGS, "DLX_TORCH_AUTOLOAD": "0", **settings}
    if backend == "rocm":
        env = {**rocm.environment(1 if LINE < (2, 11) else 2), **env}
    answer = spawn.call(attach.attach, backend, env=env)
    asked = ", ".join(f"{name}={value}" for name, value in settings.items())
    python = platform.python_version() + "t" * (not getattr(sys, "_is_gil_enabled", lambda: True)())
    shown = {"python": python, "machine": platform.machine(), "torch": version("torch")}
    place = "/".join(answer["library"].split("/")[-2:])  # below _lib, or below torch
    shown |= {"backend": backend, "asked": asked, "loaded": place, "self-test": answer["self-test"]}
    record("loaded", json.dumps(shown))
    return answer


def folder_and_backend(answer: Any) -> list[str]:
    """Of the library: ["torch2_9_cxx11", "cuda"]."""
    folder, file = answer["library"].split("/")[-2:]
    return [folder, file.partition("libdlx_torch_")[2].partition(".")[0]]


@pytest.mark.parametrize("backend", backends(own_table=HAS_OWN_TABLE))
def test_by_default(backend: str, record_property: Callable[[str, object], None]) -> None:
    answer = seen(backend, record_property)
    assert answer["self-test"] == "passed"
    if not HAS_OWN_TABLE:
        assert [answer["provider"], answer["backend"]] == ["dlx", backend]
        folder, library_backend = folder_and_backend(answer)
        assert folder.startswith(ROW)
        assert library_backend == backend
    elif HAS_TORCH_NPU:
        assert answer["provider"] == "overlay"
        assert folder_and_backend(answer) == ["overlay", "torch_npu"]
    else:
        assert answer["provider"] == "upstream"
        assert "libtorch_python" in answer["library"]


def test_the_doctor_says_so() -> None:
    finished = spawn.run(attach.doctor, "--selftest", env={**NO_SETTINGS})
    assert finished.status == 0, finished
    assert "\nself-test passed: " in finished.stdout, finished


@left_out_if(not HAS_OWN_TABLE, f"{NAME} has no table of its own, so ours is the default")
@left_out_if(HAS_TORCH_NPU, "torch_npu is installed, so the default is ours already")
@pytest.mark.parametrize("backend", backends(own_table=False))
def test_where_ours_is_preferred(backend: str, record_property: Callable[[str, object], None]) -> None:
    answer = seen(backend, record_property, DLX_TORCH_PREFER="dlx")
    assert [answer["provider"], answer["backend"], answer["self-test"]] == ["dlx", backend, "passed"]
    folder, library_backend = folder_and_backend(answer)
    assert folder.startswith(ROW)
    assert library_backend == backend
