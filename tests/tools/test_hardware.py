"""The table of what was seen on hardware: what the files in docs/hardware say, and nothing where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.docs import generated, hardware
from tools.settings import ROOT, ToolError


def result(**changes: Any) -> dict[str, Any]:
    """What `dlx-torch verify --json` might write, of a device that does not exist."""
    checks = [{"device": "cuda:0", "check": "one", "table": "dlx", "verdict": "ok", "detail": ""}]
    return {
        "schema": 1,
        "dlx-torch-ext": "0.1.0",
        "backend": "cuda",
        "torch": "2.9.1",
        "runtime": {"library": "libcudart.so.12", "driver": "1.2", "runtime": "12.8"},
        "devices": {"cuda:0": "Imaginary", "cuda:1": "Imaginary"},
        "checks": checks,
        "passed": True,
        **changes,
    }


def rows(folder: Path, **files: dict[str, Any]) -> list[list[str]]:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return hardware.seen(folder)[1:]


def test_without_a_file_there_is_none_yet(tmp_path: Path) -> None:
    assert rows(tmp_path) == [["none yet", "-", "-", "-", "-", "-"]]
    assert rows(tmp_path / "no folder") == rows(tmp_path)


def test_a_row_says_what_the_file_says(tmp_path: Path) -> None:
    failed = [{"device": "cuda:0", "check": "one", "table": "dlx", "verdict": "failed", "detail": "why"}]
    passed, other = rows(tmp_path, a=result(), b=result(checks=failed, passed=False, devices={"cuda:0": "Other"}))
    assert passed[:-1] == ["2 x Imaginary", "driver 1.2, runtime 12.8", "2.9.1", "cuda", "0.1.0"]
    assert other[0] == "1 x Other"
    for row, words in ((passed, "[1 passed]"), (other, "[0 passed, 1 failed]")):
        assert row[-1].startswith(f"{words}(https://github.com/")
    assert passed[-1].endswith("/docs/hardware/a.json)")


def test_simulated_devices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^a\.json is of simulated devices"):
        rows(tmp_path, a=result(devices={"cuda:0": "Simulated CUDA device 0"}))


@pytest.mark.parametrize("missing", ["devices", "runtime", "checks", "passed", "torch"])
def test_a_file_that_is_no_result_is_refused(missing: str, tmp_path: Path) -> None:
    content = result()
    del content[missing]
    with pytest.raises(ToolError, match=r"^a\.json is no result of `dlx-torch verify --json`"):
        rows(tmp_path, a=content)


def test_a_new_file_makes_the_readme_outdated(checkout: Path) -> None:
    assert generated.outdated(checkout) == []
    folder = checkout / "docs" / "hardware"
    folder.mkdir(exist_ok=True)
    (folder / "imaginary.json").write_text(json.dumps(result()))
    assert generated.outdated(checkout) == ["README.md"]
    generated.write(checkout)
    assert "| 2 x Imaginary | driver 1.2, runtime 12.8 | 2.9.1 | cuda |" in (checkout / "README.md").read_text()


def test_the_readme_claims_no_hardware_without_a_file() -> None:
    """In its table; and each file that is here is shown."""
    found = generated.tables(ROOT)["README.md"]["hardware"][1:]
    files = [*(ROOT / "docs" / "hardware").glob("*.json")]
    assert [row[0] for row in found] == ["none yet"] if not files else len(found) == len(files)
