"""What a notebook shows of a status, a resolution and a candidate."""

from __future__ import annotations

from typing import Any, Callable

from dlx_torch_ext import attach, resolve, status
from dlx_torch_ext._resolve import Accepted, Candidate

from tests.support import fake_torch
from tests.support.installation import matrix


def test_a_status_takes_a_few_lines(torch: Any) -> None:
    found = attach()
    assert repr(found).splitlines() == [
        "Status(provider='dlx',",
        "       variant='torch2.9-cxx11-cpu',",
        f"       library={found.library!r},",
        "       backend='cpu',",
        "       reason='torch2.9-cxx11-cpu fits torch 2.9.1+cpu',",
        "       candidates=<3 candidates, 1 accepted>)",
    ]
    assert str(found) == "dlx: torch2.9-cxx11-cpu fits torch 2.9.1+cpu"


def test_the_candidates_stay_within_reach(torch: Any) -> None:
    found = status()
    assert isinstance(found.candidates, tuple)
    assert repr(found.candidates[1]) == ("<Candidate torch2.9-cxx11-cuda, rejected: for cuda, torch needs cpu here>")


def test_a_candidate_takes_one_line() -> None:
    candidate = Candidate("torch2.9-cxx11-cpu", "dlx", Accepted("it fits"), "cpu", "/a/long/path.so")
    assert repr(candidate) == "<Candidate torch2.9-cxx11-cpu, accepted: it fits>"


def test_a_whole_matrix_changes_none_of_that(
    set_module: Callable[..., Any], install_variants: Callable[..., Any]
) -> None:
    install_variants(matrix(("cpu", "cuda", "rocm", "torch_npu")), libraries=False)
    set_module(fake_torch.torch())
    found = status()
    assert len(found.candidates) > 40
    assert len(repr(found).splitlines()) == 6
    assert len(repr(found)) < 500
    assert repr(resolve()) == "<Resolution dlx: torch2.9-cxx11-cpu fits torch 2.9.1+cpu (41 candidates, 1 accepted)>"
