"""The environments of ./dev test."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from tools.testing.environments import Environment


def test_torch_is_compiled_once_and_not_by_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # some machines have it everywhere
    venv.create(tmp_path, with_pip=False)
    torch = tmp_path / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages" / "torch"
    torch.mkdir()
    (torch / "__init__.py").write_text("from torch import part\n")
    (torch / "part.py").write_text("import os\nassert os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'] == '0'\n")
    (torch / "unused.py").write_text("")

    Environment(tmp_path).compile("missing", "torch")

    assert {file.name.partition(".")[0] for file in torch.glob("__pycache__/*.pyc")} == {"__init__", "part"}
