"""The headers of a ROCm build of torch, made from those of a CUDA build: PyTorch's own hipify, and AMD's hip/*.h.

    <sdk>/torch/include/c10/cuda/...             what a CUDA wheel has (tools/sdk/fetch.py)
    <sdk>/hip/include/c10/hip/HIPStream.h ...    made of them by the release's own torch.utils.hipify
    <sdk>/hip/include/hip/hip_runtime_api.h ...  out of a ROCm installation, or Debian's libamdhip64-dev

Compile with -D__HIP_PLATFORM_AMD__ -DUSE_ROCM, and <sdk>/hip/include before torch's own includes. hipify has changed
the names it gives: up to torch 2.10 c10::cuda becomes c10::hip, from 2.11 on it stays. So each release is turned by its
own hipify.

    python -m tools.sdk.rocm <sdk>/torch ...
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import apt
from tools.sdk import index
from tools.settings import ToolError, locked, print_all, run

# Turns the headers under argv[2] with the hipify package under argv[1].
_TURN = """
import sys
sys.path.insert(0, sys.argv[1])
from hipify.hipify_python import hipify
root = sys.argv[2]
hipify(project_directory=root, output_directory=root, includes=[root + "/*"], extensions=(".h",), show_progress=False)
"""

_PACKAGE = "libamdhip64-dev"


def make(torch: Path) -> Path:
    """The include folder of the ROCm headers for a torch package folder, made beside it where it is not there yet.

    ToolError where hipify, or AMD's headers, are not to be had.
    """
    torch = torch.resolve()
    target = torch.parent / "hip"
    with locked(target.with_name("hip.lock")):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                made = Path(scratch, "hip")
                _turned(torch, Path(scratch), made / "include" / "c10" / "hip")
                _amd(Path(scratch), made)
                made.rename(target)
    return target / "include"


def _turned(torch: Path, scratch: Path, target: Path) -> None:
    """Write c10/hip, turned from c10/cuda, to `target`."""
    cuda = torch / "include" / "c10" / "cuda"
    if not cuda.is_dir():
        raise ToolError(f"{torch} has no include/c10/cuda: give the torch folder of a CUDA build or of an SDK")
    shutil.copytree(cuda, scratch / "turned" / "c10" / "cuda")
    command = [sys.executable, "-c", _TURN, str(_hipify(torch, scratch)), str(scratch / "turned")]
    run(command, what=f"turning the headers of {torch}")
    shutil.copytree(scratch / "turned" / "c10" / "hip", target)


def _hipify(torch: Path, scratch: Path) -> Path:
    """The folder that holds the package hipify of this torch: an SDK has it in the wheel it came from."""
    if (torch / "utils" / "hipify").is_dir():
        return torch / "utils"
    about = json.loads((torch.parent / "sdk.json").read_text(encoding="utf-8"))
    wheel = index.find(f"torch==={about['torch']}", platform=f"{about['arch']}-manylinux_2_28")
    with index.open_wheel(wheel, scratch) as archive:
        members = [name for name in archive.namelist() if re.fullmatch(r"torch/utils/hipify/\w+\.py", name)]
        archive.extractall(scratch, members)
    return scratch / "torch" / "utils"


def _amd(scratch: Path, target: Path) -> None:
    """Write AMD's include/hip, and its licence, to `target`."""
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm"))
    if not (rocm / "include" / "hip" / "hip_runtime_api.h").is_file():
        try:
            apt.unpack([_PACKAGE], scratch)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ToolError(
                f"hip/hip_runtime_api.h is not in ROCM_PATH (or /opt/rocm), and apt cannot bring it ({error}): "
                f"install ROCm's HIP headers (Debian: {_PACKAGE}), and set ROCM_PATH to the folder above include/"
            ) from None
        rocm = scratch / "usr"
        shutil.copy(rocm / "share" / "doc" / _PACKAGE / "copyright", target / "LICENSE.hip")
    shutil.copytree(rocm / "include" / "hip", target / "include" / "hip")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.sdk.rocm", description=__doc__.partition("\n")[0])
    parser.add_argument("torch", nargs="+", type=Path, help="torch package folders, as in an SDK or site-packages")
    sys.exit(print_all(map(make, parser.parse_args().torch)))
