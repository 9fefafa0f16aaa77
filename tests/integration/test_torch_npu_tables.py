"""Tables on Ascend that others bring: one of torch_npu's own, and our overlay inside of another package."""

from __future__ import annotations

import json
import os
from pathlib import Path

import dlx_torch_ext
import pytest

from tests.snippets import torch_npu_alone
from tests.support import backend_package, compiled
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.process.finished import ROOT
from tests.support.this_torch import CALLS_EXTENSIONS, HAS_OWN_TABLE, HAS_TORCH_NPU, NAME

pytestmark = [
    left_out_if(not HAS_TORCH_NPU, "torch_npu is not installed"),
    left_out_if(not CALLS_EXTENSIONS, f"{NAME} calls no extension at import"),
]
# torch's own import makes a storage that torch_npu cannot read.
TABLES = {
    "right": ("over ours", (), ""),
    "NULL": ("over ours", ("-DNULL_STREAM",), "torch_npu's table gives a wrong stream: NULL for npu:0"),
    **({"unsafe": ("over torch's", (), "torch_npu's table gives a wrong storage: ")} if HAS_OWN_TABLE else {}),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_torch_npu_is_left_alone_and_compared(name: str, tmp_path: Path) -> None:
    base, flags, finding = TABLES[name]
    library = compiled.library(ROOT / "tests" / "support" / "npu_table.c", f"-I{compiled.dlpack_include()}", *flags)
    source = backend_package.TORCH_NPU.format(over_ours=base == "over ours")
    env = backend_package.install(tmp_path, source, library, "libtorch_npu_table.so")
    finished = spawn.python("-m", "dlx_torch_ext", "doctor", "--json", env={"DLX_TORCH_PREFER": None, **env})
    found = json.loads(finished.stdout)
    place = str(tmp_path / "small_backend" / "libtorch_npu_table.so")
    assert found["verdict"].endswith(f"has torch_npu's own table: {place}")
    assert (found["status"]["provider"], {row["library"] for row in found["functions"]}) == ("foreign", {place})
    compared = [one for one in found["findings"] if one.startswith("torch_npu's table")]
    assert len(compared) == bool(finding), found["findings"]
    assert all(one.startswith(finding) for one in compared)


@left_out_if(not HAS_OWN_TABLE, f"{NAME} has no table of its own, which an overlay needs")
def test_another_package_may_bundle_the_overlay(tmp_path: Path) -> None:
    library = Path(dlx_torch_ext.__file__).parent / "_lib" / "overlay" / "libdlx_torch_torch_npu.so"
    env = backend_package.install(tmp_path, backend_package.OVERLAY, library, library.name)
    seen = spawn.call(torch_npu_alone.table_after_import, env={**env, "DLX_TORCH_DISABLE": "1"})
    assert seen == {"library": os.path.join(tmp_path, "small_backend", library.name), "stream": True, "format": True}
