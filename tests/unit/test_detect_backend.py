"""detect_backend asks a torch which backend it can use now."""

from __future__ import annotations

import sys
import types
from typing import Any

import dlx_torch_ext
import pytest

from tests.support import fake_torch


def detect(**torch: Any) -> str:
    return dlx_torch_ext.detect_backend(fake_torch.torch(**torch))


@pytest.mark.parametrize(
    ("torch", "backend"),
    [
        ({}, "cpu"),
        ({"cuda": "12.8"}, "cpu"),
        ({"cuda": "12.8", "available": ("cuda",)}, "cuda"),
        ({"hip": "6.2", "available": ("cuda",)}, "rocm"),
        ({"hip": "6.2"}, "cpu"),
        ({"available": ("cuda",)}, "cuda"),
        ({"available": ("cuda",), "version_names": ()}, "cuda"),
        ({"available": ("cuda",), "version_names": ("cuda",)}, "cuda"),
        ({"available": ("cuda",), "version_names": ("hip",)}, "cuda"),
        ({"hip": "6.2", "available": ("cuda",), "version_names": ("hip",)}, "rocm"),
    ],
)
def test_cuda_and_rocm(torch: dict[str, Any], backend: str) -> None:
    assert detect(**torch) == backend


BOTH: dict[str, Any] = {"interfaces": ("cuda", "npu")}


def test_npu_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert detect(**BOTH, available=("npu",)) == "torch_npu"
    assert detect(**BOTH) == "cpu"
    assert detect(interfaces=("npu",), available=("npu",)) == "torch_npu"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_never_npu_elsewhere(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert detect(**BOTH, available=("npu",)) == "cpu"


@pytest.mark.parametrize(("version", "backend"), [({"cuda": "12.8"}, "cuda"), ({"hip": "6.2"}, "rocm")])
def test_cuda_and_rocm_come_before_an_npu_namespace(
    version: dict[str, Any], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    torch = fake_torch.torch(**BOTH, **version, available=("cuda", "npu"))
    assert dlx_torch_ext.detect_backend(torch) == backend
    assert torch.questions == ["cuda"]


@pytest.mark.parametrize("version", [{"cuda": "12.8"}, {"hip": "6.2"}, {}])
def test_a_shim_over_torch_cuda_makes_no_cuda(version: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    torch = fake_torch.torch(**BOTH, **version, available=("cuda", "npu"), shim=True)
    assert dlx_torch_ext.detect_backend(torch) == "torch_npu"


def test_an_interface_that_fails_is_not_available() -> None:
    def fail() -> bool:
        raise RuntimeError("no driver")

    torch = fake_torch.torch(cuda="12.8")
    torch.cuda.is_available = fail
    assert dlx_torch_ext.detect_backend(torch) == "cpu"
    assert dlx_torch_ext.detect_backend(types.ModuleType("torch")) == "cpu"
