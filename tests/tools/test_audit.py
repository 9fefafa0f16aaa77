"""The audit as a command: a good wheel passes, another file is refused in one line, and the output is right."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tools.audit
from tests.tools import synthetic
from tools.audit.finding import Finding
from tools.audit.wheel import read
from tools.settings import ToolError


@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_a_good_wheel_passes(processor: str, run_audit: Callable[..., list[Finding]]) -> None:
    findings = run_audit(synthetic.good(processor), platform=f"manylinux_2_28_{processor}")
    assert [finding for finding in findings if not finding.note] == []
    notes = {"complete"} if processor == "x86_64" else {"complete", "torch_symbols"}  # aarch64's torch has no CUDA
    assert {finding.check for finding in findings} == notes


def test_a_wheel_before_auditwheel_is_noted(members: dict[str, bytes], run_audit: Callable[..., list[Finding]]) -> None:
    findings = run_audit(members, platform="linux_x86_64")
    assert [(f.check, f.note) for f in findings if f.check == "tag"] == [("tag", True)]
    assert all(finding.note for finding in findings)


class TestFilesThatAreNoWheels:
    @staticmethod
    def message(path: Path) -> str:
        with pytest.raises(ToolError) as error:
            read(path)
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)
        return str(error.value)

    def test_missing(self, tmp_path: Path) -> None:
        assert "no such file" in self.message(tmp_path / "dlx_torch_ext-0.1.0-py3-none-any.whl")

    @pytest.mark.parametrize("name", ["libdlx_torch_cpu.so", "dlx_torch_ext-0.1.0.tar.gz", "dlx_torch_ext-0.1.0.whl"])
    def test_another_kind_of_file(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(b"")
        assert "not named like a wheel" in self.message(tmp_path / name)

    def test_a_wheel_of_another_project(self, tmp_path: Path) -> None:
        path = tmp_path / "torch-2.9.1-py3-none-any.whl"
        path.write_bytes(b"")
        assert "a wheel of torch" in self.message(path)

    @pytest.mark.parametrize("rest", [0, 100, -200])
    def test_cut_short(self, rest: int, members: dict[str, bytes], tmp_path: Path) -> None:
        path = synthetic.pack(tmp_path, members)
        path.write_bytes(path.read_bytes()[:rest])
        assert "cannot be read as a wheel" in self.message(path)

    def test_damaged_inside(self, members: dict[str, bytes], tmp_path: Path) -> None:
        path = synthetic.pack(tmp_path, members)
        data = bytearray(path.read_bytes())
        data[5000] ^= 0xFF
        path.write_bytes(bytes(data))
        assert "cannot be read as a wheel" in self.message(path)


class TestCommand:
    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch, sdks: Any) -> Callable[..., int]:
        monkeypatch.setattr(tools.audit, "Sdks", lambda _: sdks)

        def command(*wheels: Path, json: bool = False, whole: bool = False) -> int:
            return tools.audit.main(argparse.Namespace(wheels=list(wheels), json=json, whole=whole))

        return command

    def test_the_table_and_the_exit_status(
        self,
        run: Callable[..., int],
        members: dict[str, bytes],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert run(synthetic.pack(tmp_path, members)) == 0
        printed = capsys.readouterr().out
        assert "no problem found" in printed
        assert "torch2_9_cxx11/libdlx_torch_cuda.so" in printed
        members["torch/__init__.py"] = b""
        assert run(synthetic.pack(tmp_path, members)) == 1
        printed = capsys.readouterr().out
        assert "PROBLEM top_level: torch/__init__.py: is not in dlx_torch_ext*" in printed
        assert "1 problem found" in printed

    def test_json(
        self,
        run: Callable[..., int],
        members: dict[str, bytes],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert run(synthetic.pack(tmp_path, members), json=True, whole=True) == 1
        (document,) = json.loads(capsys.readouterr().out)
        assert (document["platform"], document["good"], len(document["libraries"])) == ("linux-x86_64", False, 7)
        assert [(f["check"], f["note"]) for f in document["findings"]] == [("complete", False)]
