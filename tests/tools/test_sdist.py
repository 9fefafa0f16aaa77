"""The sdist, installed without a compiler: the package works, and says how to get its libraries."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from tools.settings import ROOT

BACKEND_CALL = (
    "import sys; from scikit_build_core import build; print(getattr(build, 'build_' + sys.argv[1])(sys.argv[2]))"
)


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("DLX_TORCH_", "PYTHON", "CMAKE", "SKBUILD"))}
    return subprocess.run(command, cwd=folder, env={**inherited, **more}, capture_output=True, text=True, check=False)


def build(kind: str, source: Path, out: Path, **more: str) -> Path:
    out.mkdir()
    done = run([sys.executable, "-c", BACKEND_CALL, kind, str(out)], source, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return out / done.stdout.splitlines()[-1]


def test_it_installs_without_a_compiler_and_says_what_to_do(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", ROOT, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "bin").mkdir()
    no_compiler = {"PATH": str(tmp_path / "bin"), "CC": "no-compiler", "CXX": "no-compiler"}
    source = next(tmp_path.glob("dlx_torch_ext-*"))
    wheel = build("wheel", source, tmp_path / "wheel", **no_compiler)
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as members:
        members.extractall(tmp_path / "installed")
    listing = run(
        [sys.executable, "-m", "dlx_torch_ext", "list"], tmp_path, PYTHONPATH=str(tmp_path / "installed"), **no_compiler
    )
    assert len(listing.stderr.splitlines()) == 1
    for advice in ("install the wheel for this platform", "dlx-torch build", "DLX_TORCH_BUILD_NATIVE=1"):
        assert advice in listing.stderr
