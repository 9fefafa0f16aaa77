"""Make the headers of a ROCm build of torch: PyTorch's hipify translates those of a CUDA build, and AMD's hip/*.h are
copied.

    <sdk>/torch/include/c10/cuda/...             the headers of a CUDA wheel (tools/sdk/fetch.py)
    <sdk>/hip/include/c10/hip/HIPStream.h ...    their translation by torch.utils.hipify of the same release
    <sdk>/hip/include/hip/hip_runtime_api.h ...  copied from a ROCm installation, or from Debian's libamdhip64-dev

Compile with -D__HIP_PLATFORM_AMD__ -DUSE_ROCM, and with <sdk>/hip/include before torch's own includes. Each release
needs its own hipify, because the names changed: up to torch 2.10 hipify turns c10::cuda into c10::hip, from 2.11 on it
keeps c10::cuda.

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
from tools.sdk.members import extract
from tools.settings import ToolError, locked, print_all, run

# Translates the headers below argv[2] with the package hipify in the folder argv[1].
_RUN_HIPIFY = """
import sys
sys.path.insert(0, sys.argv[1])
from hipify.hipify_python import hipify
root = sys.argv[2]
hipify(project_directory=root, output_directory=root, includes=[root + "/*"], extensions=(".h",), show_progress=False)
"""

_PACKAGE = "libamdhip64-dev"


def make_headers(torch: Path) -> Path:
    """The include folder of the ROCm headers for a torch package folder; it lies beside that folder and is made if it
    is missing.

    ToolError where hipify or AMD's headers cannot be found.
    """
    torch = torch.resolve()
    target = torch.parent / "hip"
    with locked(target.with_name("hip.lock")):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                unfinished = Path(scratch, "hip")
                _translate_headers(torch, Path(scratch), unfinished / "include" / "c10" / "hip")
                _copy_amd_headers(Path(scratch), unfinished)
                unfinished.rename(target)
    return target / "include"


def _translate_headers(torch: Path, scratch: Path, target: Path) -> None:
    """Translate c10/cuda to c10/hip, and write it to `target`."""
    cuda = torch / "include" / "c10" / "cuda"
    if not cuda.is_dir():
        raise ToolError(f"{torch} has no include/c10/cuda: give the torch folder of a CUDA build or of an SDK")
    shutil.copytree(cuda, scratch / "translated" / "c10" / "cuda")
    command = [sys.executable, "-c", _RUN_HIPIFY, str(_find_hipify(torch, scratch)), str(scratch / "translated")]
    run(command, what=f"translating the headers of {torch} with hipify")
    shutil.copytree(scratch / "translated" / "c10" / "hip", target)


def _find_hipify(torch: Path, scratch: Path) -> Path:
    """The folder that holds the package hipify of this torch. An SDK lacks it: it comes from the SDK's wheel."""
    if (torch / "utils" / "hipify").is_dir():
        return torch / "utils"
    sdk = json.loads((torch.parent / "sdk.json").read_text(encoding="utf-8"))
    wheel = index.find(f"torch==={sdk['torch']}", platform=f"{sdk['arch']}-manylinux_2_28")
    if wheel.sha256 != sdk["sha256"]:  # hipify is a program, and it runs here
        raise ToolError(
            f"the index has another wheel of torch {sdk['torch']} now ({wheel.sha256}) than the SDK is from "
            f"({sdk['sha256']}): find out why, then ./dev sdk {sdk['torch']} --record"
        )
    with index.open_wheel(wheel, scratch) as archive:
        members = [m for m in archive.infolist() if re.fullmatch(r"torch/utils/hipify/\w+\.py", m.filename)]
        extract(archive, members, scratch, lambda name: name)
    return scratch / "torch" / "utils"


def _copy_amd_headers(scratch: Path, target: Path) -> None:
    """Copy AMD's include/hip to `target`, with its licence where the headers come from Debian."""
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm"))
    if not (rocm / "include" / "hip" / "hip_runtime_api.h").is_file():
        try:
            apt.unpack([_PACKAGE], scratch)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ToolError(
                f"include/hip/hip_runtime_api.h is not below {rocm}, and apt cannot download it ({error}): install "
                f"ROCm's HIP headers (Debian: {_PACKAGE}) and set ROCM_PATH to the folder that holds their include/"
            ) from None
        rocm = scratch / "usr"
        shutil.copy(rocm / "share" / "doc" / _PACKAGE / "copyright", target / "LICENSE.hip")
    shutil.copytree(rocm / "include" / "hip", target / "include" / "hip")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.sdk.rocm", description=__doc__.partition("\n")[0])
    parser.add_argument("torch", nargs="+", type=Path, help="torch package folders, as in an SDK or site-packages")
    sys.exit(print_all(map(make_headers, parser.parse_args().torch)))
