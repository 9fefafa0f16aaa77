"""The layout check, on fake tensors with the layout of a release line and with another one."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest
from dlx_torch_ext import _layout

from tests.support import fake_torch, stub


@pytest.mark.parametrize(("version", "line"), [("2.4.1", (2, 4)), ("2.9.1", (2, 9)), ("2.10.0", (2, 10))])
def test_the_layout_of_the_release_line(version: str, line: tuple[int, int]) -> None:
    assert _layout.problem(fake_torch.torch(version, whole=True), line) == ""


@pytest.mark.parametrize(("version", "line"), [("2.10.0", (2, 9)), ("2.9.1", (2, 10))])
def test_another_size(version: str, line: tuple[int, int]) -> None:
    problem = _layout.problem(fake_torch.torch(version, whole=True), line)
    assert "bytes behind PyObject" in problem
    assert problem.endswith(f": install a release of torch 2.{line[1]}")


def test_another_tensor_class() -> None:
    torch = fake_torch.torch(whole=True)
    fake_torch.torch(whole=True)  # THPVariableClass now points to the class of this one
    assert "THPVariableClass" in _layout.problem(torch, (2, 9))


def test_windows_has_the_class_under_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def in_dll(library: str, name: str) -> SimpleNamespace:
        asked.append((os.path.basename(library), name))
        return SimpleNamespace(value=7)

    loader = SimpleNamespace(PyDLL=str, c_void_p=SimpleNamespace(in_dll=in_dll))
    monkeypatch.setattr(_layout, "ctypes", loader)
    torch = SimpleNamespace(__file__="torch/__init__.py", _C=SimpleNamespace(__file__="torch/_C.so"))
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        assert _layout._tensor_class_of_libtorch(torch) == 7
    name = "?THPVariableClass@@3PEAU_object@@EA"  # as torch_python.lib of torch 2.4 to 2.15 has it
    assert asked == [("_C.so", "THPVariableClass")] * 2 + [("torch_python.dll", name)]


def test_another_offset_of_the_tensor_impl() -> None:
    torch = fake_torch.torch(whole=True)
    torch.Tensor._cdata = 12345
    assert "do not have the pointer to their TensorImpl" in _layout.problem(torch, (2, 9))


def test_a_layout_that_cannot_be_checked_is_a_problem() -> None:
    torch = fake_torch.torch(whole=True)
    torch._C.__file__ = str(stub.compiled())  # a library without THPVariableClass
    assert "cannot be checked" in _layout.problem(torch, (2, 9))
    torch._C.__file__ = "/nowhere.so"
    assert "cannot be checked" in _layout.problem(torch, (2, 9))
    assert "cannot be checked" in _layout.problem(fake_torch.torch(), (2, 9))


def test_modes_are_switched_off_around_the_tensor_it_makes() -> None:
    entered = []

    class Guard:
        def __enter__(self) -> None:
            entered.append("in")

        def __exit__(self, *_: object) -> None:
            entered.append("out")

    torch = fake_torch.torch(whole=True)
    torch._C._DisableTorchDispatch = torch._C.DisableTorchFunction = Guard
    empty = torch.empty

    def watched(*arguments: object, **named: object) -> object:
        entered.append("empty")
        return empty(*arguments, **named)

    torch.empty = watched
    assert _layout.problem(torch, (2, 9)) == ""
    assert entered == ["in", "in", "empty", "out", "out"]
