"""A copy of the installed package, to be broken."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import files
from pathlib import Path

import pytest

from tests.support.this_torch import LINE


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with copies of our two packages, with the libraries for this line of torch only."""
    installed = Path(str(next(f for f in files("dlx-torch-ext") or () if f.name == "_api.py").locate())).parent.parent
    folder = tmp_path / "site"
    row = f"torch{LINE[0]}_{LINE[1]}_"

    def left_out(where: str, names: list[str]) -> set[str]:
        rows = {name for name in names if Path(where).name == "_lib" and "." not in name and not name.startswith(row)}
        return {"__pycache__", "_src", *rows}

    for name in ("dlx_torch_ext", "dlx_torch_ext_autoload"):
        shutil.copytree(installed / name, folder / name, ignore=left_out)
    manifest = folder / "dlx_torch_ext" / "_lib" / "manifest.json"
    document = json.loads(manifest.read_text())
    document["variants"] = [v for v in document["variants"] if v["row"].startswith(row)]
    manifest.write_text(json.dumps(document))
    return folder


@pytest.fixture
def libraries(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.so"))
    assert found
    return found
