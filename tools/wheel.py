"""Build the wheel with the rows asked for, against SDKs: ./dev wheel."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

from tools import hipify, sdk
from tools.screen import busy
from tools.settings import ROOT, ToolError, dev_dir, locked, tool, uv_environment
from tools.wheels import tomllib


def rows() -> dict[str, str]:
    """Every row of variants.toml by its directory name ("torch2_9_cxx11"), with the torch release of its headers."""
    matrix: dict[str, Any] = tomllib.loads((ROOT / "variants.toml").read_text(encoding="utf-8"))
    return {row_name(row["torch"], row["cxx11"]): row["sdk"] for row in matrix["row"]}


def row_name(torch: str, cxx11: bool) -> str:
    return f"torch{torch.replace('.', '_')}_cxx{'11' if cxx11 else '98'}"


def torch_line(row: str) -> str:
    """The torch release line of a row: "2.9" of "torch2_9_cxx11"."""
    return row.removeprefix("torch").rpartition("_")[0].replace("_", ".")


def build(names: list[str], out: Path, *, sanitize: bool = False) -> Path:
    """Build a wheel with these rows into `out` and return its path. Objects of earlier builds are used again.

    ToolError names an unknown row, or carries the end of the build's own words.
    """
    known = rows()
    if unknown := [name for name in names if name not in known]:
        raise ToolError(f"no row {', '.join(unknown)} in variants.toml; it has {', '.join(known)}")
    for release in dict.fromkeys(known[name] for name in names):
        _hip_headers(sdk.fetch(release) / "torch")
    kind = "sanitize" if sanitize else "release"
    build_dir = _build_dir(kind)
    landing = dev_dir() / "wheels" / f"{kind}-{os.getpid()}"  # alone in its folder: its name need not be guessed
    shutil.rmtree(landing, ignore_errors=True)
    command = [tool("uv"), "build", "--wheel", str(ROOT), "--out-dir", str(landing), "--python", sys.executable]
    command += ["--no-build-isolation", "-C", f"build-dir={build_dir}"]
    if sanitize:
        command += ["-C", "cmake.define.DLX_TORCH_SANITIZE=ON"]
    environment = uv_environment(
        DLX_TORCH_BUILD_NATIVE="1",
        DLX_TORCH_ROWS=";".join(names),
        DLX_TORCH_SDK_DIR=str(sdk.sdk_dir()),
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",  # our cmake and ninja
    )
    with locked(build_dir.with_suffix(".lock")), busy(f"Building the wheel: {', '.join(names)}"):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    found = sorted(landing.glob("*.whl"))
    if done.returncode != 0 or not found:
        raise ToolError(f"building the wheel failed:\n{(done.stdout + done.stderr)[-6000:].rstrip()}")
    out.mkdir(parents=True, exist_ok=True)
    wheel = Path(shutil.move(found[0], out / found[0].name))
    shutil.rmtree(landing)
    return wheel


def _hip_headers(torch: Path) -> None:
    """The headers for the rocm backend; where AMD's are not to be had the wheel goes without it, as CMake then says."""
    try:
        hipify.make(torch)
    except ToolError as error:
        print(f"Without the rocm backend: {error}", file=sys.stderr)


def _build_dir(kind: str) -> Path:
    """One build folder per checkout and kind of build, outside the checkout."""
    checkout = f"{ROOT.name}-{zlib.crc32(str(ROOT).encode()):08x}"
    return dev_dir() / "build" / checkout / kind


def main(options: argparse.Namespace) -> int:
    names = [name.strip() for name in options.rows.split(",")] if options.rows else list(rows())
    wheel = build(names, options.out)
    print(f"{wheel}  {wheel.stat().st_size / 1e6:.2f} MB, {len(names)} rows: {', '.join(names)}")
    return 0
