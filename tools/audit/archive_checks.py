"""Checks of the wheel as a package: its tag, what lies in it, its size, its licences, its RECORD."""

from __future__ import annotations

import base64
import csv
import email.parser
import hashlib
from collections.abc import Iterator

from tools.audit.finding import Finding
from tools.audit.wheel import Wheel, glibc_of

GLIBC = (2, 28)
WHEEL_BYTES = 1_500_000


def tag(wheel: Wheel) -> Iterator[Finding]:
    """py3-none-<platform>: no CPython and no ABI is named, and manylinux_2_28 or an older one. WHEEL says the same."""
    for name in wheel.tags:
        python, abi, platform = name.split("-")
        if (python, abi) != ("py3", "none"):
            yield Finding("", f"tag {name}: one wheel serves every CPython, so py3-none-{platform} is expected")
    if not wheel.platform:
        yield Finding("", f"platform tag {'.'.join(wheel.platforms)} is none of Linux, macOS on arm64, Windows on x64")
    for platform in wheel.platforms:
        glibc = glibc_of(platform)
        if glibc is not None and glibc > GLIBC:
            yield Finding("", f"platform tag {platform} asks for glibc {glibc[0]}.{glibc[1]}, newer than 2.28")
        if glibc is None and platform.startswith("linux_"):
            yield Finding("", f"tagged {platform}: not through auditwheel yet, no index takes it so", note=True)
    written = email.parser.BytesParser().parsebytes(wheel.members.get(f"{wheel.dist_info}/WHEEL", b""))
    if sorted(written.get_all("Tag", [])) != sorted(wheel.tags):
        said = ", ".join(written.get_all("Tag", [])) or "nothing"
        yield Finding(f"{wheel.dist_info}/WHEEL", f"Tag is {said}, the file's name says {', '.join(wheel.tags)}")
    if str(written.get("Root-Is-Purelib")).lower() != "false":
        yield Finding(f"{wheel.dist_info}/WHEEL", "Root-Is-Purelib is not false, and there are libraries inside")


def top_level(wheel: Wheel) -> Iterator[Finding]:
    """Only dlx_torch_ext* and the dist-info at the top; a name that leaves the folder is not even that."""
    for name in wheel.members:
        top, *rest = name.split("/")
        ours = top == wheel.dist_info or (top.startswith("dlx_torch_ext") and not top.endswith((".dist-info", ".data")))
        if not ours or not rest or ".." in rest or "\\" in name:
            yield Finding(name, "does not belong at the top of this wheel")


def wheel_size(wheel: Wheel) -> Iterator[Finding]:
    """1.5 MB at most."""
    if wheel.size > WHEEL_BYTES:
        yield Finding("", f"{wheel.size} bytes, {wheel.size - WHEEL_BYTES} more than {WHEEL_BYTES}")


def licences(wheel: Wheel) -> Iterator[Finding]:
    """Our licence and notice, whatever METADATA names, and dlpack.h's licence beside it."""
    metadata = email.parser.BytesParser().parsebytes(wheel.members.get(f"{wheel.dist_info}/METADATA", b""))
    named = {*metadata.get_all("License-File", []), "LICENSE", "NOTICE"}
    wanted = [f"{wheel.dist_info}/licenses/{name}" for name in sorted(named)]
    if "dlx_torch_ext/include/dlpack/dlpack.h" in wheel.members:
        wanted.append("dlx_torch_ext/include/dlpack/LICENSE")
    for name in wanted:
        if not wheel.members.get(name, b"").strip():
            yield Finding(name, "missing or empty")


def record(wheel: Wheel) -> Iterator[Finding]:
    """RECORD has every file once, with its digest and size: a wheel packed anew can go wrong there."""
    own = f"{wheel.dist_info}/RECORD"
    lines = list(csv.reader(wheel.members.get(own, b"").decode("utf-8", "replace").splitlines()))
    listed = {line[0]: tuple(line[1:]) for line in lines if len(line) == 3}
    if len(listed) != len(lines):
        yield Finding(own, "has lines that are no (name, digest, size), or a name twice")
    for name, data in wheel.members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        expected = ("", "") if name == own else (f"sha256={digest}", str(len(data)))
        if name not in listed:
            yield Finding(name, "is not in RECORD")
        elif listed[name] != expected:
            yield Finding(name, "is not the file that RECORD describes")
    for name in sorted(set(listed) - set(wheel.members)):
        yield Finding(name, "is in RECORD and not in the wheel")
