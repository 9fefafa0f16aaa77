"""Which of tvm-ffi's own tests ./dev test --tvm-ffi runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.settings import ToolError
from tools.testing import tvm_ffi

FILES = {
    "test_a.py": "import torch\n",
    "test_b.py": "torch = pytest.importorskip('torch')\n",
    "test_c.py": "import torchvision_like\n",
    "test_optional_torch_c_dlpack.py": "import torch\n",
    "helper.py": "import torch\n",
}


def test_those_that_name_torch(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "python"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    assert tvm_ffi.using_torch(tmp_path) == ("tests/python/test_a.py", "tests/python/test_b.py")


def test_another_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"has no tests/python/test_\*\.py that names torch: give tvm-ffi's repository"):
        tvm_ffi.using_torch(tmp_path)
