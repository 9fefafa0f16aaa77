"""Download the SDK of a torch release: the files that compiling against it needs, taken from torch's own wheel.

    <dev dir>/sdk/2.9.1/torch/include/...          torch's headers
    <dev dir>/sdk/2.9.1/torch/version.py, LICENSE  torch's version and licence
    <dev dir>/sdk/2.9.1/torch/lib/libc10.so ...    link stubs, and their symbols as text (tools/sdk/stubs.py)
    <dev dir>/sdk/2.9.1/cuda/include/...           the CUDA headers that c10/cuda includes, with their licence
    <dev dir>/sdk/2.9.1/sdk.json                   the wheel it comes from, and its digest
    <dev dir>/sdk-arm64/2.9.1/...                  the same for another processor than this machine's; arm64 is macOS

Only the needed members are downloaded (about 130 MB of a 900 MB wheel; less than 80 MB stay on disk). A download that
was interrupted is continued; a folder under its final name is complete. The digest over all files is compared with the
one in tools/sdk/sdk.sums before the folder gets that name. A release that is not listed there is not downloaded, except
to record its digest.

    ./dev sdk 2.9.1 [--arch aarch64] [--record]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from tools.sdk import cuda, index, stubs
from tools.sdk.members import extract
from tools.settings import ToolError, dev_dir, locked, machine

# The processors that have SDKs, as wheel tags spell them, and uv's name for the platform of each.
_PLATFORMS = {
    "x86_64": "x86_64-manylinux_2_28",
    "aarch64": "aarch64-manylinux_2_28",
    "arm64": "aarch64-apple-darwin",
    "x64": "x86_64-pc-windows-msvc",
}
_SUMS = Path(__file__).with_name("sdk.sums")
_NEEDED = re.compile(r"torch/(include/.+[^/]|version\.py)|.*\.dist-info/(licenses/)?(LICENSE|NOTICE|License\.txt)")
# Headers of third parties in torch/include. No header of ATen or c10 that our code includes needs them.
_NOT_NEEDED = re.compile(
    r"torch/include/(google|oneapi|pybind11|kineto|tensorpipe|fbgemm|dnnl|fp16|psimd|onnx|caffe2/onnx|contrib)/"
)


def sdk_dir(arch: str | None = None) -> Path:
    """The folder of all SDKs for a processor; CMake gets it as DLX_TORCH_SDK_DIR."""
    return dev_dir() / ("sdk" if arch in (None, machine()) else f"sdk-{arch}")


def fetch(release: str, arch: str | None = None, *, record: bool = False) -> Path:
    """The folder of the SDK of a torch release ("2.9.1") for a processor, downloaded if it is missing. With `record`,
    it is downloaded again and its digest is written to sdk.sums. ToolError for a release that sdk.sums does not list,
    and for one whose files have another digest."""
    arch = arch or machine()
    if arch not in _PLATFORMS:
        raise ToolError(f"no SDK for the processor {arch}: choose one of {', '.join(_PLATFORMS)}")
    if not record and (release, arch) not in _sums():
        raise ToolError(
            f"tools/sdk/sdk.sums has no digest of the SDK of torch {release} ({arch}), and nothing is compiled against "
            f"files that are not listed: choose a listed release, or record it: ./dev sdk {release} --arch {arch} "
            "--record"
        )
    target = sdk_dir(arch) / release
    if (target / "sdk.json").exists() and not record:
        return target
    with locked(target.with_name(target.name + ".lock")):
        if (target / "sdk.json").exists() and not record:
            return target  # another ./dev downloaded it while this one waited
        return _download(release, arch, target, record)


def _download(release: str, arch: str, target: Path, record: bool) -> Path:
    part = target.with_name(target.name + ".part")
    with _progress() as progress:
        task = progress.add_task(f"SDK of torch {release} ({arch})", total=None)
        torch = _find(f"torch==={release}", arch)  # ===: not a local version such as 2.13.0+cpu, if find-links has one
        _assemble(torch, arch, part, lambda size: progress.advance(task, size))
    if arch == "aarch64" and not (part / "torch/lib/libc10_cuda.so").exists():
        cuda.copy_from_other_processor(fetch(release, "x86_64"), part)
    digest = _digest(part)
    _check_digest(release, arch, digest, record)
    sdk = {"torch": release, "arch": arch, "wheel": torch.filename, "sha256": torch.sha256, "digest": digest}
    (part / "sdk.json").write_text(json.dumps(sdk, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    return part.rename(target)


def _assemble(torch: index.Wheel, arch: str, part: Path, advance: Callable[[int], None]) -> None:
    with index.open_wheel(torch, part.parent, advance) as archive:
        members = [m for m in archive.infolist() if _NEEDED.fullmatch(m.filename) and not _NOT_NEEDED.match(m.filename)]
        extract(archive, members, part, lambda name: f"torch/{Path(name).name}" if ".dist-info/" in name else name)
        stubs.write_all(archive, arch, part / "torch" / "lib")
        if "torch/lib/libc10_cuda.so" in archive.namelist():  # a wheel without it names NVIDIA's packages too
            metadata = next(m for m in archive.namelist() if m.endswith(".dist-info/METADATA"))
            _cuda_headers(archive.read(metadata).decode(), arch, part, advance)


def _cuda_headers(metadata: str, arch: str, part: Path, advance: Callable[[int], None]) -> None:
    for requirement in cuda.packages(metadata):
        with index.open_wheel(_find(requirement, arch), part.parent, advance) as archive:
            places = cuda.members(archive)
            extract(archive, map(archive.getinfo, places), part / "cuda", places.__getitem__)


def _find(requirement: str, arch: str) -> index.Wheel:
    return index.find(requirement, platform=_PLATFORMS[arch])


def _digest(root: Path) -> str:
    """One SHA-256 over the names and contents of all files."""
    sha256 = hashlib.sha256()
    for file in sorted(p for p in root.rglob("*") if p.is_file() and p != root / "sdk.json"):
        sha256.update(f"{file.relative_to(root).as_posix()} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return sha256.hexdigest()


def _sums() -> dict[tuple[str, str], str]:
    """The digests that are listed, by release and processor."""
    lines = _SUMS.read_text(encoding="utf-8").splitlines() if _SUMS.exists() else []
    return {(line.split()[0], line.split()[1]): line.split()[2] for line in lines if line and not line.startswith("#")}


def _check_digest(release: str, arch: str, digest: str, record: bool) -> None:
    """Compare the digest with the one that is listed, or with `record` list it. ToolError where the two differ."""
    sums = _sums()
    if record:
        sums[release, arch] = digest
        text = "# torch release, processor, digest of its SDK (tools/sdk/fetch.py)\n"
        text += "".join(f"{r} {a} {d}\n" for (r, a), d in sorted(sums.items()))
        _SUMS.write_text(text, encoding="utf-8")
    elif sums[release, arch] != digest:
        raise ToolError(
            f"the SDK of torch {release} ({arch}) has the digest {digest}, tools/sdk/sdk.sums says "
            f"{sums[release, arch]}: the wheel has changed. Find out why, then record the new digest: "
            f"./dev sdk {release} --arch {arch} --record"
        )


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def main(options: argparse.Namespace) -> int:
    for release in options.releases:
        print(fetch(release, options.arch, record=options.record))
    return 0
