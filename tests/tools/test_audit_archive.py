"""Wheels with one defect in the archive or the manifest, or one that disagrees with variants.toml: the right check
reports it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import synthetic
from tests.tools.synthetic import INFO, LIB, entry

AuditProblems = Callable[..., dict[str, str]]
MANIFEST = f"{LIB}/manifest.json"
CPU = f"{LIB}/torch2_9_cxx11/libdlx_torch_cpu.so"


def entries(members: dict[str, bytes]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(members[MANIFEST])["variants"]
    return listed


@pytest.mark.parametrize("platform", ["manylinux_2_34_x86_64", "musllinux_1_2_x86_64", "any", "win32"])
def test_a_platform_that_is_too_new_or_has_no_wheels(
    platform: str, members: dict[str, bytes], audit_problems: AuditProblems
) -> None:
    assert platform in audit_problems(members, platform=platform)["tag"]


@pytest.mark.parametrize("platform", ["manylinux2014_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64"])
def test_an_older_manylinux_passes(platform: str, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    tags = "".join(f"Tag: py3-none-{name}\n" for name in platform.split("."))
    members[f"{INFO}/WHEEL"] = f"Root-Is-Purelib: false\n{tags}".encode()
    assert audit_problems(members, platform=platform) == {}


def test_a_tag_of_one_cpython(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    assert "cp311-cp311" in audit_problems(members, tag="cp311-cp311")["tag"]


def test_a_tag_that_the_file_name_does_not_have(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    members[f"{INFO}/WHEEL"] = b"Root-Is-Purelib: true\nTag: py3-none-any\n"
    text = audit_problems(members)["tag"]
    assert "Tag is py3-none-any" in text
    assert "Root-Is-Purelib" in text


@pytest.mark.parametrize(
    "name", ["torch/__init__.py", "LICENSE", "other-1.0.dist-info/METADATA", "dlx_torch_ext/../evil.py"]
)
def test_a_file_outside_the_folders_of_the_package(
    name: str, members: dict[str, bytes], audit_problems: AuditProblems
) -> None:
    members[name] = b"x"
    problems = audit_problems(members)
    assert set(problems) == {"top_level"}
    assert name in problems["top_level"]


def test_a_wheel_that_is_too_large(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    members["dlx_torch_ext/_ballast"] = os.urandom(1_500_000)
    assert set(audit_problems(members)) == {"wheel_size"}


@pytest.mark.parametrize(
    "name", [f"{INFO}/licenses/LICENSE", f"{INFO}/licenses/NOTICE", "dlx_torch_ext/include/dlpack/LICENSE"]
)
def test_a_licence_that_is_missing_or_empty(
    name: str, members: dict[str, bytes], audit_problems: AuditProblems
) -> None:
    members[name] = b" \n"
    assert name in audit_problems(members)["licences"]
    del members[name]
    assert set(audit_problems(members)) == {"licences"}


def test_a_record_of_other_files(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    whole = {f"{INFO}/WHEEL": b"Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n", **members}
    record = synthetic.record({**whole, "dlx_torch_ext/gone.py": b""})
    other = {"dlx_torch_ext/__init__.py": b"changed", "dlx_torch_ext/new.py": b"", f"{INFO}/RECORD": record}
    problems = audit_problems({**whole, **other})
    assert set(problems) == {"record"}
    for text in ("__init__.py: has another digest", "new.py: is not in RECORD", "gone.py: is in RECORD but not"):
        assert text in problems["record"]


def test_a_record_that_cannot_be_read(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    members[f"{INFO}/RECORD"] = b"what,is\n\xff\n"
    assert "not (name, digest, size)" in audit_problems(members)["record"]


class TestManifest:
    def test_missing(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        del members[MANIFEST]
        assert "is missing" in audit_problems(members)["manifest"]

    @pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"schema": 7}'])
    def test_unusable(self, content: bytes, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[MANIFEST] = content
        assert "cannot be used" in audit_problems(members)["manifest"]

    def test_a_file_that_the_wheel_lacks(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        del members[CPU]
        assert audit_problems(members)["manifest"] == f"{CPU}: is in the manifest but not in the wheel\n"

    def test_a_library_that_it_does_not_list(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[MANIFEST] = synthetic.manifest([e for e in entries(members) if e["backend"] != "rocm"])
        problems = audit_problems(members)
        assert set(problems) == {"manifest"}
        assert "torch2_9_cxx11/libdlx_torch_rocm.so: is in the wheel but not in the manifest" in problems["manifest"]

    def test_a_library_listed_twice(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[MANIFEST] = synthetic.manifest([*entries(members), entry("2.9", True, "cpu")])
        assert audit_problems(members) == {"manifest": f"{CPU}: is in the manifest more than once\n"}

    def test_of_another_version_or_platform(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        members[MANIFEST] = synthetic.manifest(entries(members), "linux-aarch64", "0.2.0")
        problems = audit_problems(members)
        assert "for version 0.2.0" in problems["manifest"]
        assert "for linux-aarch64" in problems["manifest"]

    def test_without_libraries(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        left = {name: data for name, data in members.items() if not name.endswith(".so")}
        assert audit_problems({**left, MANIFEST: synthetic.manifest([])}) == {
            "manifest": ": the wheel contains no library\n"
        }


class TestVariantsToml:
    @pytest.mark.parametrize(
        ("torch", "cxx11_abi", "backend"), [("3.0", True, "cpu"), ("2.9", False, "cpu"), ("2.9", True, "xpu")]
    )
    def test_a_variant_that_it_does_not_have(
        self, torch: str, cxx11_abi: bool, backend: str, members: dict[str, bytes], audit_problems: AuditProblems
    ) -> None:
        added = entry(torch, cxx11_abi, backend)
        members[f"{LIB}/{added['file']}"] = synthetic.library(needs=(), undefined=())
        members[MANIFEST] = synthetic.manifest([*entries(members), added])
        assert (
            f"variants.toml has no row {added['row']} with the backend {backend}"
            in audit_problems(members)["variants_toml"]
        )

    def test_a_backend_of_another_platform(self, audit_problems: AuditProblems) -> None:
        members = synthetic.good("aarch64")
        added = entry("2.9", True, "rocm")
        members[f"{LIB}/{added['file']}"] = synthetic.library(processor="aarch64")
        members[MANIFEST] = synthetic.manifest([*entries(members), added], "linux-aarch64")
        problems = audit_problems(members, platform="manylinux_2_28_aarch64")
        assert "does not build rocm for linux-aarch64" in problems["variants_toml"]

    def test_another_serves_than_in_variants_toml(
        self, members: dict[str, bytes], audit_problems: AuditProblems
    ) -> None:
        changed = [{**e, "serves": "prefer"} if e["file"].endswith("_rocm.so") else e for e in entries(members)]
        members[MANIFEST] = synthetic.manifest(changed)
        assert set(audit_problems(members)) == {"variants_toml"}

    def test_a_wheel_that_lacks_rows(self, members: dict[str, bytes], audit_problems: AuditProblems) -> None:
        assert audit_problems(members) == {}
        problems = audit_problems(members, whole=True)
        assert set(problems) == {"complete"}
        assert "torch2_4_cxx98/cpu" in problems["complete"]


def test_a_library_that_the_resolver_never_takes(members: dict[str, bytes], audit_problems: AuditProblems) -> None:
    added = entry("2.3", True, "cpu")  # older than every torch that we support
    members[f"{LIB}/{added['file']}"] = synthetic.library(needs=(), undefined=())
    members[MANIFEST] = synthetic.manifest([*entries(members), added])
    assert "instead of torch2.3-cxx11-cpu" in audit_problems(members)["reachable"]
