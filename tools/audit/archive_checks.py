"""Checks of the wheel as a package: its tag, its files, its size, its licences, its RECORD."""

from __future__ import annotations

import base64
import csv
import email.parser
import hashlib
from collections.abc import Iterator

from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, glibc_of

MAX_GLIBC = (2, 28)
MAX_WHEEL_BYTES = 1_500_000


def tag(wheel: Wheel) -> Iterator[Finding]:
    """The tag is py3-none-<platform>, without a CPython version or an ABI; on Linux the platform is manylinux_2_28 or
    older. The file WHEEL has the same tags."""
    for name in wheel.tags:
        python, abi, platform = name.split("-")
        if (python, abi) != ("py3", "none"):
            yield Finding("", f"the tag is {name}; one wheel serves every CPython, so it must be py3-none-{platform}")
    if not wheel.platform:
        tags = ".".join(wheel.platforms)
        yield Finding("", f"the platform tag is {tags}; it must be for Linux, macOS on arm64 or Windows on x64")
    for platform in wheel.platforms:
        glibc = glibc_of(platform)
        if glibc is not None and glibc > MAX_GLIBC:
            yield Finding("", f"the platform tag {platform} needs glibc {glibc[0]}.{glibc[1]}; at most 2.28 is allowed")
        if glibc is None and platform.startswith("linux_"):
            text = f"the platform tag is {platform}; package indexes accept it only after `auditwheel repair`"
            yield Finding("", text, note=True)
    wheel_file = email.parser.BytesParser().parsebytes(wheel.members.get(f"{wheel.dist_info}/WHEEL", b""))
    if sorted(wheel_file.get_all("Tag", [])) != sorted(wheel.tags):
        tags = ", ".join(wheel_file.get_all("Tag", [])) or "missing"
        yield Finding(f"{wheel.dist_info}/WHEEL", f"Tag is {tags}; the wheel's file name says {', '.join(wheel.tags)}")
    if str(wheel_file.get("Root-Is-Purelib")).lower() != "false":
        yield Finding(f"{wheel.dist_info}/WHEEL", "Root-Is-Purelib must be false: the wheel contains libraries")


def top_level(wheel: Wheel) -> Iterator[Finding]:
    """The wheel has only the folders dlx_torch_ext* and its dist-info; no name leads out of them."""
    for name in wheel.members:
        top, *rest = name.split("/")
        ours = top == wheel.dist_info or (top.startswith("dlx_torch_ext") and not top.endswith((".dist-info", ".data")))
        if not ours or not rest or ".." in rest or "\\" in name:
            yield Finding(name, "is not in dlx_torch_ext* or the dist-info folder; a wheel must have nothing else")


def wheel_size(wheel: Wheel) -> Iterator[Finding]:
    """The wheel has at most 1.5 MB."""
    if wheel.size > MAX_WHEEL_BYTES:
        yield Finding(
            "", f"the wheel has {wheel.size} bytes, {wheel.size - MAX_WHEEL_BYTES} more than {MAX_WHEEL_BYTES}"
        )


def licences(wheel: Wheel) -> Iterator[Finding]:
    """The wheel contains LICENSE, NOTICE, every licence file that METADATA names, and dlpack.h's licence beside it."""
    metadata = email.parser.BytesParser().parsebytes(wheel.members.get(f"{wheel.dist_info}/METADATA", b""))
    named = {*metadata.get_all("License-File", []), "LICENSE", "NOTICE"}
    required_files = [f"{wheel.dist_info}/licenses/{name}" for name in sorted(named)]
    if "dlx_torch_ext/include/dlpack/dlpack.h" in wheel.members:
        required_files.append("dlx_torch_ext/include/dlpack/LICENSE")
    for name in required_files:
        if not wheel.members.get(name, b"").strip():
            yield Finding(name, "is missing or empty")


def record(wheel: Wheel) -> Iterator[Finding]:
    """RECORD lists every file once, with its digest and size. A tool that repacks a wheel may get this wrong."""
    record_file = f"{wheel.dist_info}/RECORD"
    lines = list(csv.reader(wheel.members.get(record_file, b"").decode("utf-8", "replace").splitlines()))
    listed = {line[0]: tuple(line[1:]) for line in lines if len(line) == 3}
    if len(listed) != len(lines):
        yield Finding(record_file, "has a line that is not (name, digest, size), or a name twice")
    for name, data in wheel.members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        expected = ("", "") if name == record_file else (f"sha256={digest}", str(len(data)))
        if name not in listed:
            yield Finding(name, "is not in RECORD")
        elif listed[name] != expected:
            yield Finding(name, "has another digest or size than RECORD says")
    for name in sorted(set(listed) - set(wheel.members)):
        yield Finding(name, "is in RECORD but not in the wheel")
