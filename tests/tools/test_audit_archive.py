"""A wheel spoilt as a package: each check of the archive, of the manifest and of variants.toml finds its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.tools import synthetic
from tests.tools.synthetic import INFO, LIB, entry

Found = Callable[..., dict[str, str]]
MANIFEST = f"{LIB}/manifest.json"
CPU = f"{LIB}/torch2_9_cxx11/libdlx_torch_cpu.so"


def entries(members: dict[str, bytes]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(members[MANIFEST])["variants"]
    return listed


@pytest.mark.parametrize("platform", ["manylinux_2_34_x86_64", "musllinux_1_2_x86_64", "any", "win32"])
def test_a_platform_that_is_too_new_or_none_of_ours(platform: str, members: dict[str, bytes], found: Found) -> None:
    assert platform in found(members, platform=platform)["tag"]


@pytest.mark.parametrize("platform", ["manylinux2014_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64"])
def test_an_older_manylinux_serves(platform: str, members: dict[str, bytes], found: Found) -> None:
    tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
    members[f"{INFO}/WHEEL"] = f"Root-Is-Purelib: false\n{tags}".encode()
    assert found(members, platform=platform) == {}


def test_a_tag_of_one_cpython(members: dict[str, bytes], found: Found) -> None:
    assert "cp311-cp311" in found(members, tag="cp311-cp311")["tag"]


def test_a_tag_that_the_file_name_does_not_have(members: dict[str, bytes], found: Found) -> None:
    members[f"{INFO}/WHEEL"] = b"Root-Is-Purelib: true\nTag: py3-none-any\n"
    words = found(members)["tag"]
    assert "Tag is py3-none-any" in words
    assert "Root-Is-Purelib" in words


@pytest.mark.parametrize(
    "name", ["torch/__init__.py", "LICENSE", "other-1.0.dist-info/METADATA", "dlx_torch_ext/../evil.py"]
)
def test_what_does_not_belong(name: str, members: dict[str, bytes], found: Found) -> None:
    members[name] = b"x"
    said = found(members)
    assert set(said) == {"top_level"}
    assert name in said["top_level"]


def test_a_wheel_that_is_too_large(members: dict[str, bytes], found: Found) -> None:
    members["dlx_torch_ext/_ballast"] = os.urandom(1_500_000)
    assert set(found(members)) == {"wheel_size"}


@pytest.mark.parametrize(
    "name", [f"{INFO}/licenses/LICENSE", f"{INFO}/licenses/NOTICE", "dlx_torch_ext/include/dlpack/LICENSE"]
)
def test_a_licence_that_is_missing_or_empty(name: str, members: dict[str, bytes], found: Found) -> None:
    members[name] = b" \n"
    assert name in found(members)["licences"]
    del members[name]
    assert set(found(members)) == {"licences"}


def test_a_record_of_other_files(members: dict[str, bytes], found: Found) -> None:
    whole = {f"{INFO}/WHEEL": b"Root-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n", **members}
    record = synthetic.record({**whole, "dlx_torch_ext/gone.py": b""})
    other = {"dlx_torch_ext/__init__.py": b"changed", "dlx_torch_ext/new.py": b"", f"{INFO}/RECORD": record}
    said = found({**whole, **other})
    assert set(said) == {"record"}
    for words in ("__init__.py: is not the file", "new.py: is not in RECORD", "gone.py: is in RECORD and not"):
        assert words in said["record"]


def test_a_record_that_is_none(members: dict[str, bytes], found: Found) -> None:
    members[f"{INFO}/RECORD"] = b"what,is\n\xff\n"
    assert "no (name, digest, size)" in found(members)["record"]


class TestManifest:
    def test_missing(self, members: dict[str, bytes], found: Found) -> None:
        del members[MANIFEST]
        assert "there is none" in found(members)["manifest"]

    @pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"schema": 7}'])
    def test_unusable(self, content: bytes, members: dict[str, bytes], found: Found) -> None:
        members[MANIFEST] = content
        assert "cannot be used" in found(members)["manifest"]

    def test_a_file_that_is_not_there(self, members: dict[str, bytes], found: Found) -> None:
        del members[CPU]
        assert found(members)["manifest"] == f"{CPU}: is in the manifest and not in the wheel\n"

    def test_a_library_that_it_does_not_name(self, members: dict[str, bytes], found: Found) -> None:
        members[MANIFEST] = synthetic.manifest([it for it in entries(members) if it["backend"] != "rocm"])
        said = found(members)
        assert set(said) == {"manifest"}
        assert "torch2_9_cxx11/libdlx_torch_rocm.so: is in the wheel and not in the manifest" in said["manifest"]

    def test_a_library_named_twice(self, members: dict[str, bytes], found: Found) -> None:
        members[MANIFEST] = synthetic.manifest([*entries(members), entry("2.9", True, "cpu")])
        assert found(members) == {"manifest": f"{CPU}: is in the manifest more than once\n"}

    def test_of_another_version_or_platform(self, members: dict[str, bytes], found: Found) -> None:
        members[MANIFEST] = synthetic.manifest(entries(members), "linux-aarch64", "0.2.0")
        said = found(members)
        assert "of version 0.2.0" in said["manifest"]
        assert "for linux-aarch64" in said["manifest"]

    def test_without_libraries(self, members: dict[str, bytes], found: Found) -> None:
        left = {name: data for name, data in members.items() if not name.endswith(".so")}
        assert found({**left, MANIFEST: synthetic.manifest([])}) == {"manifest": ": holds no library at all\n"}


class TestVariantsToml:
    @pytest.mark.parametrize(
        ("torch", "cxx11", "backend"), [("3.0", True, "cpu"), ("2.9", False, "cpu"), ("2.9", True, "xpu")]
    )
    def test_what_it_does_not_have(
        self, torch: str, cxx11: bool, backend: str, members: dict[str, bytes], found: Found
    ) -> None:
        more = entry(torch, cxx11, backend)
        members[f"{LIB}/{more['file']}"] = synthetic.library(needs=(), asks=())
        members[MANIFEST] = synthetic.manifest([*entries(members), more])
        assert f"variants.toml has no {more['row']} with {backend}" in found(members)["variants_toml"]

    def test_a_backend_of_another_platform(self, found: Found) -> None:
        members = synthetic.good("aarch64")
        more = entry("2.9", True, "rocm")
        members[f"{LIB}/{more['file']}"] = synthetic.library(processor="aarch64")
        members[MANIFEST] = synthetic.manifest([*entries(members), more], "linux-aarch64")
        said = found(members, platform="manylinux_2_28_aarch64")
        assert "does not build rocm for linux-aarch64" in said["variants_toml"]

    def test_whom_a_row_serves(self, members: dict[str, bytes], found: Found) -> None:
        changed = [{**it, "serves": "prefer"} if it["file"].endswith("_rocm.so") else it for it in entries(members)]
        members[MANIFEST] = synthetic.manifest(changed)
        assert set(found(members)) == {"variants_toml"}

    def test_a_wheel_that_lacks_rows(self, members: dict[str, bytes], found: Found) -> None:
        assert found(members) == {}
        said = found(members, whole=True)
        assert set(said) == {"complete"}
        assert "torch2_4_cxx98/cpu" in said["complete"]


def test_a_library_that_the_resolver_never_takes(members: dict[str, bytes], found: Found) -> None:
    more = entry("2.3", True, "cpu")  # older than every torch that is served
    members[f"{LIB}/{more['file']}"] = synthetic.library(needs=(), asks=())
    members[MANIFEST] = synthetic.manifest([*entries(members), more])
    assert "torch2.3-cxx11-cpu should serve" in found(members)["reachable"]
