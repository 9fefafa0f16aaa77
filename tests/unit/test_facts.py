"""The facts that are read from a torch, and that reading them asks no device."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, Callable

import pytest
from dlx_torch_ext import _capsule, _facts

from tests.support import fake_torch, stub
from tests.support.left_out import left_out_if
from tests.support.structs import DLPackExchangeAPI

SetModule = Callable[..., Any]


@pytest.mark.parametrize(
    ("cuda", "hip", "backend"),
    [(None, None, "cpu"), ("12.8", None, "cuda"), (None, "6.2", "rocm"), ("12.8", "6.2", "cuda")],
)
def test_the_backend_comes_from_torch_version(cuda: str | None, hip: str | None, backend: str) -> None:
    assert _facts.read(fake_torch.torch(cuda=cuda, hip=hip)).backend == backend


@pytest.mark.parametrize("names", [(), ("cuda",), ("hip",)])
def test_missing_version_attributes_count_as_none(names: tuple[str, ...]) -> None:
    assert _facts.read(fake_torch.torch(version_names=names)).backend == "cpu"


def test_a_build_that_names_only_hip_is_rocm() -> None:
    assert _facts.read(fake_torch.torch(hip="6.2", version_names=("hip",))).backend == "rocm"


def test_without_version_attributes_the_extension_knows_cuda() -> None:
    torch = fake_torch.torch(version_names=())
    torch._C._has_cuda = True
    assert _facts.read(torch).backend == "cuda"


def test_an_xpu_build_is_no_cpu_build() -> None:
    torch = fake_torch.torch()
    torch.version.xpu = "20250201"
    assert _facts.read(torch).backend == "xpu"


def test_no_device_is_asked() -> None:
    def count() -> int:
        torch.questions.append("count")
        return 2

    torch = fake_torch.torch(cuda="12.8", interfaces=("cuda", "npu"), available=("cuda", "npu"))
    torch._C._cuda_getDeviceCount = count
    facts = _facts.read(torch)
    assert torch.questions == []
    assert (facts.cuda_active(), facts.cuda_active()) == (True, True)
    assert torch.questions == ["count"]


@left_out_if(sys.platform != "linux", "only libstdc++ has two C++ ABIs")
@pytest.mark.parametrize("abi", [True, False])
def test_cxx11_abi_by_function_and_by_flag(abi: bool) -> None:
    assert _facts.read(fake_torch.torch(cxx11_abi=abi)).cxx11_abi is abi
    torch = fake_torch.torch(cxx11_abi=None)
    assert _facts.read(torch).cxx11_abi is None
    torch._C._GLIBCXX_USE_CXX11_ABI = abi
    assert _facts.read(torch).cxx11_abi is abi


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_only_libstdcxx_has_two_abis(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = fake_torch.torch(cxx11_abi=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("PROCESSOR_ARCHITECTURE", "AMD64")
    facts = _facts.read(torch)
    assert facts.cxx11_abi is True
    assert facts.system == {"darwin": "macos", "win32": "windows"}[platform]
    assert facts.platform == f"{facts.system}-{'x64' if platform == 'win32' else facts.machine}"


def test_no_torch_is_a_fact(set_module: SetModule) -> None:
    set_module(None)
    torch, problem = _facts.import_torch()
    assert torch is None
    assert problem == f"torch is not installed in {sys.prefix}: install it there, or run the Python that has it"
    assert _facts.read(torch, problem).torch_problem == problem


def test_a_torch_that_does_not_import_is_a_fact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.12: cannot open\\nand more lines')")
    torch, problem = _facts.import_torch()
    assert torch is None
    assert (
        problem
        == "`import torch` fails (OSError: libcudart.so.12: cannot open): reinstall torch, or install what it lacks"
    )


def test_a_missing_dependency_of_torch_is_not_a_missing_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "torch.py").write_text("import dlx_no_such_module")
    assert "fails (ModuleNotFoundError: No module named 'dlx_no_such_module')" in _facts.import_torch()[1]


def test_a_folder_called_torch_is_not_torch() -> None:
    folder = types.ModuleType("torch")
    assert "torch from an unknown place is not PyTorch" in _facts.read(folder).torch_problem
    folder.__path__ = ["/here/torch"]
    assert "torch from /here/torch is not PyTorch" in _facts.read(folder).torch_problem


def test_a_torch_still_being_imported_has_no_tensor() -> None:
    torch = fake_torch.torch()
    del torch.Tensor
    facts = _facts.read(torch)
    assert facts.torch is None
    assert "still being imported" in facts.torch_problem


def test_torch_npu_is_looked_up_but_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch_npu", raising=False)
    assert _facts.read(fake_torch.torch()).torch_npu is None
    (tmp_path / "torch_npu").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert _facts.read(fake_torch.torch()).torch_npu is None, "a folder without __init__.py is no package"
    (tmp_path / "torch_npu" / "__init__.py").write_text("raise RuntimeError('imported')")
    facts = _facts.read(fake_torch.torch())
    assert (facts.torch_npu, facts.torch_npu_loaded) == ("unknown version", False)
    (tmp_path / "torch_npu-2.9.0.dist-info").mkdir()
    (tmp_path / "torch_npu-2.9.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.9.0\n"
    )
    assert _facts.read(fake_torch.torch()).torch_npu == "2.9.0"


def test_a_loaded_torch_npu_says_its_version(set_module: SetModule) -> None:
    npu = types.ModuleType("torch_npu")
    npu.__version__ = "2.9.0.post1"  # type: ignore[attr-defined]
    set_module(npu, "torch_npu")
    facts = _facts.read(fake_torch.torch())
    assert (facts.torch_npu, facts.torch_npu_loaded) == ("2.9.0.post1", True)


def test_torchs_own_table_is_upstream_and_any_other_foreign() -> None:
    own, other = DLPackExchangeAPI(), DLPackExchangeAPI()
    torch = fake_torch.torch("2.10.0", own_table=_capsule.make_capsule(_address(own)))
    table = _facts.read(torch).table
    assert table == _facts.Table("upstream", _address(own))
    torch.Tensor.__dlpack_c_exchange_api__ = _capsule.make_capsule(_address(other))
    table = _facts.read(torch).table
    assert table == _facts.Table("foreign", _address(other))


def test_a_table_lies_in_the_library_of_its_functions() -> None:
    from dlx_torch_ext import _load
    from dlx_torch_ext._resolve import Accepted, Candidate

    torch = fake_torch.torch(whole=True)
    path = str(stub.compiled())
    library = _load.load(Candidate("", "dlx", Accepted(""), "cpu", path), _facts.read(torch))
    assert isinstance(library, _load.Library)
    torch.Tensor.__dlpack_c_exchange_api__ = _capsule.make_capsule(library.table)
    assert _facts.read(torch).table == _facts.Table("foreign", library.table, path)


@pytest.mark.parametrize("value", [object(), "text", 1, True, -8, 0x10001])
def test_an_attribute_that_is_not_a_table_is_foreign(value: object) -> None:
    torch = fake_torch.torch()
    torch.Tensor.__dlpack_c_exchange_api__ = value
    assert _facts.read(torch).table == _facts.Table("foreign", 0)


def test_the_legacy_integer_alone_is_a_table() -> None:
    table = DLPackExchangeAPI()
    table.version.major = 1
    torch = fake_torch.torch()
    torch.Tensor.__c_dlpack_exchange_api__ = _address(table)
    assert _facts.read(torch).table == _facts.Table("foreign", _address(table))


def test_facts_about_this_interpreter() -> None:
    facts = _facts.read()
    assert facts.python == ".".join(map(str, sys.version_info[:3]))
    assert facts.implementation == "cpython"
    assert facts.free_threaded is (not getattr(sys, "_is_gil_enabled", lambda: True)())


def _address(structure: Any) -> int:
    import ctypes

    return ctypes.addressof(structure)
