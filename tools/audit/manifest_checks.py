"""Checks that manifest, files, variants.toml and the resolver agree."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools import matrix
from tools.audit.finding import Finding
from tools.audit.wheel import LIB, Wheel

# After tools.matrix, which makes the package importable where it is not installed.
from dlx_torch_ext._facts import Facts, Table  # isort: skip
from dlx_torch_ext._release import parse  # isort: skip
from dlx_torch_ext._resolve import resolve  # isort: skip
from dlx_torch_ext._settings import DLX, Settings  # isort: skip
from dlx_torch_ext._variants import Manifest, Variant, human_name, library_file, read_manifest  # isort: skip

MANIFEST = f"{LIB}/manifest.json"
_OWN_TABLE = "2.13.0"  # a torch that has a table of its own


def manifest(wheel: Wheel) -> Iterator[Finding]:
    """The manifest can be read, is of this wheel, and names every library once and nothing that is not there."""
    read = _read(wheel)
    if read.problem:
        yield Finding(MANIFEST, read.problem.partition("manifest.json ")[2] or "there is none")
        return
    if read.version != wheel.version:
        yield Finding(MANIFEST, f"is of version {read.version}, the wheel of {wheel.version}")
    if read.platform != wheel.platform:
        yield Finding(MANIFEST, f"is for {read.platform}, the wheel for {wheel.platform or wheel.platforms}")
    named = [variant.path for variant in read.variants]
    there = {library.member for library in wheel.libraries}
    for path in sorted(set(named)):
        if named.count(path) > 1:
            yield Finding(path, "is in the manifest more than once")
        if path not in there:
            yield Finding(path, "is in the manifest and not in the wheel")
    for path in sorted(there - set(named)):
        yield Finding(path, "is in the wheel and not in the manifest: nothing will ever load it")
    if not there:
        yield Finding("", "holds no library at all")


def variants_toml(wheel: Wheel) -> Iterator[Finding]:
    """Everything in the manifest is in variants.toml, for this platform, and says the same about itself."""
    stated = matrix.read()
    for variant in _read(wheel).variants:
        row = variant.path.split("/")[-2]
        backend = stated.backend(row, variant.backend)
        if backend is None:
            yield Finding(variant.path, f"variants.toml has no {row} with {variant.backend}")
            continue
        if wheel.platform not in backend.platforms:
            yield Finding(variant.path, f"variants.toml does not build {variant.backend} for {wheel.platform}")
        serves = "overlay" if row == matrix.OVERLAY else stated.rows[row].serves
        if variant.serves != serves:
            yield Finding(variant.path, f"serves {variant.serves!r}, and {serves!r} by variants.toml")


def complete(wheel: Wheel) -> Iterator[Finding]:
    """What variants.toml has for this platform and the wheel lacks. A wheel of a few rows is for tests, so this is a
    note unless the audit is asked for a whole one."""
    system = wheel.platform.partition("-")[0]
    there = {library.member for library in wheel.libraries}
    missing = [
        f"{row}/{backend}"
        for row, backend in matrix.read().files(wheel.platform)
        if f"{LIB}/{row}/{library_file(backend, system)}" not in there
    ]
    if missing:
        shown = ", ".join(missing[:6]) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "")
        yield Finding("", f"lacks {len(missing)} of variants.toml: {shown}", note=True)


def reachable(wheel: Wheel) -> Iterator[Finding]:
    """For every variant there are facts with which the resolver takes it first; the rows that serve by default are
    taken without being asked for."""
    read = _read(wheel)
    for variant in read.variants:
        resolution = resolve(_facts_for(variant, read.platform), read)
        if resolution.library != variant.path:
            name = human_name(variant.torch, variant.cxx11_abi, variant.backend)
            taken = resolution.library or resolution.provider
            yield Finding(variant.path, f"the resolver takes {taken} where {name} should serve: {resolution.reason}")


def _facts_for(variant: Variant, platform: str) -> Facts:
    """The facts of a torch that this variant is for."""
    system, _, machine = platform.partition("-")
    torch = f"{variant.torch}.0" if variant.torch else _OWN_TABLE
    own = variant.serves in ("prefer", "overlay")
    npu = variant.backend == "torch_npu"
    return Facts(
        torch=torch,
        release=parse(torch),
        cxx11_abi=variant.cxx11_abi if system == "linux" and variant.cxx11_abi is not None else True,
        backend="cpu" if npu else variant.backend,
        torch_npu=torch if npu else None,
        system=system,
        machine=machine,
        python="3.9.0",
        table=Table("upstream", 1) if own else None,
        settings=Settings(prefer=DLX) if variant.serves == "prefer" else Settings(),
    )


def _read(wheel: Wheel) -> Manifest:
    """The manifest as an installation of the wheel reads it, but with the paths of the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "_lib").mkdir()
        if MANIFEST in wheel.members:
            (Path(folder) / "_lib" / "manifest.json").write_bytes(wheel.members[MANIFEST])
        read = read_manifest([folder])
        variants = [
            Variant(v.torch, v.cxx11_abi, v.backend, v.serves, "/".join((LIB, *Path(v.path).parts[-2:])))
            for v in read.variants
        ]
    return Manifest(tuple(variants), read.platform, read.version, read.problem)
