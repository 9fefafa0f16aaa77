"""Which backend is wanted, over every combination of what torch was built for, which libraries are loaded and what
stands in for torch.cuda."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from dlx_torch_ext import _accelerator, _facts, _resolve

from tests.support import fake_torch
from tests.support.left_out import left_out_if

BUILDS: dict[str, dict[str, Any]] = {"cpu": {}, "cuda": {"cuda": "12.8"}, "rocm": {"hip": "6.2"}}
MONITORS = {"cpu": "none", "cuda": "_device_count_nvml", "rocm": "_device_count_amdsmi"}
# (a CUDA or ROCm build, torch_npu is installed, such a device is there): everything else must not matter.
EXPECTED = {
    (False, False, False): "build",
    (False, True, False): "torch_npu",
    (True, False, False): "build",
    (True, False, True): "build",
    (True, True, False): "torch_npu",
    (True, True, True): "build",
}


def module_of(source: str) -> Any:
    """The module torch.cuda, with functions whose globals it is."""
    module: Any = types.ModuleType("torch.cuda")
    exec(source, vars(module))
    return module


def wanted(torch: Any, npu: str | None) -> str:
    facts = _facts.read(torch).replace(torch_npu=npu, system="linux")
    return _resolve.wanted_backend(facts)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("npu", ["absent", "installed", "loaded"])
@pytest.mark.parametrize("devices", [0, 2])
@pytest.mark.parametrize("available", [False, True])
@pytest.mark.parametrize("monitor", ["none", "no device", "2 devices"])
def test_what_torch_cuda_says_never_matters(
    build: str, npu: str, devices: int, available: bool, monitor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if build == "cpu":
        devices = 0
    monitored = {"none": -1, "no device": 0, "2 devices": devices}[monitor]
    torch = fake_torch.torch(**BUILDS[build], devices=devices)
    torch.cuda = module_of(f"def is_available(): return {available}\ndef {MONITORS[build]}(): return {monitored}")
    monkeypatch.setattr(_accelerator, "is_loaded", lambda library: npu == "loaded")
    expected = EXPECTED[build != "cpu", npu != "absent", devices > 0]
    assert wanted(torch, None if npu == "absent" else "2.9.1") == (build if expected == "build" else expected)


@pytest.mark.parametrize("build", ["cuda", "rocm"])
@pytest.mark.parametrize("loaded", [False, True])
def test_the_driver_is_left_alone_where_the_monitor_knows(
    build: str, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count() -> int:
        counted.append(1)
        return 2

    counted: list[int] = []
    torch = fake_torch.torch(**BUILDS[build])
    torch._C._cuda_getDeviceCount = count
    torch.cuda = module_of(f"def {MONITORS[build]}(): return 2")
    monkeypatch.setattr(_accelerator, "is_loaded", lambda library: loaded)
    assert _accelerator.has_device(torch, build)
    assert counted == ([1] if loaded else [])  # torch_npu has made torch count, and that count is exact


@pytest.mark.parametrize("build", ["cuda", "rocm"])
@pytest.mark.parametrize("replaced", ["the function", "the module", "nothing"])
def test_a_monitor_that_is_not_torchs_own_is_not_asked(replaced: str, build: str) -> None:
    torch = fake_torch.torch(**BUILDS[build])
    torch.cuda = module_of(f"def {MONITORS[build]}(): return 2")
    if replaced == "the function":
        setattr(torch.cuda, MONITORS[build], lambda: 2)
    elif replaced == "the module":
        torch.cuda.__name__ = "torch_npu.npu"
    assert _accelerator.has_device(torch, build) is (replaced == "nothing")


@pytest.mark.parametrize("build", ["cuda", "rocm"])
def test_what_fails_counts_as_no_device(build: str) -> None:
    torch = fake_torch.torch(**BUILDS[build])
    torch.cuda = module_of(f"def {MONITORS[build]}(): raise OSError('no such library')")
    assert not _accelerator.has_device(torch, build)
    del torch.cuda
    assert not _accelerator.has_device(torch, build)


@left_out_if(sys.platform != "linux", "the C library has another name")
def test_a_loaded_library_is_known_by_its_name() -> None:
    assert _accelerator.is_loaded("libc.so.6")
    assert not _accelerator.is_loaded("libtorch_npu.so")
