"""Checks that the manifest, the files, variants.toml and the resolver agree with each other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools import matrix
from tools.audit.finding import Finding
from tools.audit.wheel import LIB, Wheel

# After tools.matrix: importing it makes the package importable where it is not installed.
from dlx_torch_ext._facts import Facts, Table  # isort: skip
from dlx_torch_ext._release import parse  # isort: skip
from dlx_torch_ext._resolve import resolve  # isort: skip
from dlx_torch_ext._settings import DLX, Settings  # isort: skip
from dlx_torch_ext._variants import Manifest, Variant, human_name, library_file, read_manifest  # isort: skip

MANIFEST = f"{LIB}/manifest.json"
_OWN_TABLE = "2.13.0"  # a torch that has a table of its own


def manifest(wheel: Wheel) -> Iterator[Finding]:
    """The manifest can be read, belongs to this wheel, and lists each library of the wheel once and nothing else."""
    read = _read(wheel)
    if read.problem:
        yield Finding(MANIFEST, read.problem.partition("manifest.json ")[2] or "is missing")
        return
    if read.version != wheel.version:
        yield Finding(MANIFEST, f"is for version {read.version}; the wheel has version {wheel.version}")
    if read.platform != wheel.platform:
        yield Finding(MANIFEST, f"is for {read.platform}; the wheel is for {wheel.platform or wheel.platforms}")
    listed = [variant.path for variant in read.variants]
    present = {library.member for library in wheel.libraries}
    for path in sorted(set(listed)):
        if listed.count(path) > 1:
            yield Finding(path, "is in the manifest more than once")
        if path not in present:
            yield Finding(path, "is in the manifest but not in the wheel")
    for path in sorted(present - set(listed)):
        yield Finding(path, "is in the wheel but not in the manifest, so nothing will ever load it")
    if not present:
        yield Finding("", "the wheel contains no library")


def variants_toml(wheel: Wheel) -> Iterator[Finding]:
    """Every variant of the manifest is in variants.toml, for this platform and with the same `serves`."""
    declared = matrix.read()
    for variant in _read(wheel).variants:
        row = variant.path.split("/")[-2]
        backend = declared.backend(row, variant.backend)
        if backend is None:
            yield Finding(variant.path, f"variants.toml has no row {row} with the backend {variant.backend}")
            continue
        if wheel.platform not in backend.platforms:
            yield Finding(variant.path, f"variants.toml does not build {variant.backend} for {wheel.platform}")
        serves = "overlay" if row == matrix.OVERLAY else declared.rows[row].serves
        if variant.serves != serves:
            yield Finding(variant.path, f"the manifest says serves = {variant.serves!r}; variants.toml says {serves!r}")


def complete(wheel: Wheel) -> Iterator[Finding]:
    """The wheel has every library that variants.toml has for this platform. Without --whole this is only a note, since
    wheels with a few rows are built for tests."""
    system = wheel.platform.partition("-")[0]
    present = {library.member for library in wheel.libraries}
    missing = [
        f"{row}/{backend}"
        for row, backend in matrix.read().files(wheel.platform)
        if f"{LIB}/{row}/{library_file(backend, system)}" not in present
    ]
    if missing:
        shown = ", ".join(missing[:6]) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "")
        yield Finding("", f"the wheel lacks {len(missing)} libraries of variants.toml: {shown}", note=True)


def reachable(wheel: Wheel) -> Iterator[Finding]:
    """For each variant there is a torch for which the resolver takes it first. A variant with serves = "default" is
    taken with default settings."""
    read = _read(wheel)
    for variant in read.variants:
        resolution = resolve(_facts_for(variant, read.platform), read)
        if resolution.library != variant.path:
            name = human_name(variant.torch, variant.cxx11_abi, variant.backend)
            taken = resolution.library or resolution.provider
            yield Finding(variant.path, f"the resolver takes {taken} instead of {name}: {resolution.reason}")


def _facts_for(variant: Variant, platform: str) -> Facts:
    """The facts about a process with the torch that this variant is for."""
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
    """The manifest, read as by an installed package, but with paths inside the wheel."""
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
