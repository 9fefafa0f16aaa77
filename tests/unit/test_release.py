"""Which versions of torch are releases of PyTorch, and which are other builds."""

from __future__ import annotations

import pytest
from dlx_torch_ext._release import parse


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("2.9.1", (2, 9)),
        ("2.4.0", (2, 4)),
        ("2.10.0", (2, 10)),
        ("2.9.1+cu128", (2, 9)),
        ("2.5.1+cpu", (2, 5)),
        ("2.6.0+rocm6.2", (2, 6)),
        ("2.8.0+rocm6.4.1", (2, 8)),
        ("2.7.1+xpu", (2, 7)),
        ("2.4.1+cpu.cxx11.abi", (2, 4)),
        ("2.5.1+cu121.with.pypi.cudnn", (2, 5)),
        ("2.4.1.post301", (2, 4)),
    ],
)
def test_releases(version: str, line: tuple[int, int]) -> None:
    release = parse(version)
    assert (release.line, release.problem) == (line, "")


@pytest.mark.parametrize(
    "version",
    [
        "2.9.0a0+50eac811a6.nv25.09",  # vendor containers
        "2.9.0a0+hash.nv25.09",
        "2.5.0a0+git1234567",
        "2.9.0.dev20250804+cu128",  # nightlies
        "2.9.0b1",
        "2.9.0rc2",
        "2.9.1+gitd38164a",  # built from a checkout
        "2.6.0+rocm6.4.1.git1ded221d",
        "2.9.1+d38164a",
        "2.9.1+nv25.09",
        "2.9.1+debian",
        "2.9.1+",
        "2.9.1+cu",
        "2.9.1+cu128.6",
        "2.9.1+cpu.3",
        "2.9.1+11",
        "2.9.1+rocm6..2",
        "2.9.1+cxx11.abi",
        "2.9.post",
        "2.9.0a0.5",
        "2.9.vendor.1",
    ],
)
def test_other_versions_are_not_releases_but_have_a_line(version: str) -> None:
    release = parse(version)
    assert release.line == tuple(int(part) for part in version.split(".")[:2])
    assert version in release.problem
    assert "release" in release.problem


@pytest.mark.parametrize("version", ["", "unknown", "2", "two.nine", "v", "\n", "x.2.9"])
def test_without_a_version_number_there_is_no_line(version: str) -> None:
    release = parse(version)
    assert release.line is None
    assert "is not a version number" in release.problem
