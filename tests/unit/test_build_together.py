"""Many builders of one library, the ranks of a job: one compiles it, and the others try it side by side."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from dlx_torch_ext import _cache
from dlx_torch_ext._cli import build as build_command
from dlx_torch_ext._cli import lock
from dlx_torch_ext._cli.compile import Tools
from dlx_torch_ext._cli.target import Target, plan

from tests.support.installation import facts

RANKS = 64
BROKEN, GOOD = b"broken", b"good"


class Builder:
    """A builder whose steps are recorded. `on_lock`: what another builder does while this one waits for the lock."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.target: Target = plan(facts(), None, str(folder), None)
        self.path = Path(self.target.path)
        self.steps: list[str] = []
        self.on_lock: Callable[[], object] = lambda: None
        self.has_lock = False
        for name in ("compile_library", "_problem_in_a_child", "_locked"):
            monkeypatch.setattr(build_command, name, getattr(self, name.lstrip("_")))

    @contextlib.contextmanager
    def locked(self, path: str) -> Iterator[None]:
        self.steps.append("lock")
        self.on_lock()
        self.has_lock = True
        yield
        self.has_lock = False

    def compile_library(self, tools: Tools, here: Any, backend: str, work: str) -> str:
        self.steps.append("compile")
        Path(work, "built.so").write_bytes(GOOD)
        return str(Path(work, "built.so"))

    def problem_in_a_child(self, path: str, backend: str) -> str:
        if path == self.target.path:
            self.steps.append(f"try {Path(path).read_bytes().decode()}")
            assert not self.has_lock, "the others would wait until this one has tried the library"
        return "" if Path(path).read_bytes() == GOOD else "it is broken"

    def put(self, content: bytes) -> None:
        """Puts a library there as a builder does: a new file."""
        new = self.path.with_name("new")
        new.write_bytes(content)
        os.utime(new, ns=(0, len(self.steps)))
        new.replace(self.path)

    def build(self) -> list[str]:
        build_command._build_target(self.target, "/torch")
        assert self.path.read_bytes() == GOOD
        return self.steps


@pytest.fixture(autouse=True)
def _without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cache, "revision", lambda: "0123456789ab")
    monkeypatch.setattr(build_command, "find_tools", lambda _: Tools("", "cmake", "", "", ""))


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    return Builder(tmp_path, monkeypatch)


def test_nothing_is_there(builder: Builder) -> None:
    assert builder.build() == ["lock", "compile"]


def test_a_good_library_is_taken_without_the_lock(builder: Builder) -> None:
    builder.put(GOOD)
    assert builder.build() == ["try good"]


def test_a_broken_one_is_built_again(builder: Builder) -> None:
    builder.put(BROKEN)
    assert builder.build() == ["try broken", "lock", "compile"]


@pytest.mark.parametrize("first", [None, BROKEN])
def test_what_another_builder_made_meanwhile_is_tried_without_the_lock(first: bytes | None, builder: Builder) -> None:
    if first is not None:
        builder.put(first)
    builder.on_lock = lambda: builder.put(GOOD)
    assert builder.build() == [*(["try broken"] if first else []), "lock", "try good"]


def test_what_another_builder_made_meanwhile_may_be_broken(builder: Builder) -> None:
    def once() -> None:
        builder.put(BROKEN)
        builder.on_lock = lambda: None

    builder.on_lock = once
    assert builder.build() == ["lock", "try broken", "lock", "compile"]


@pytest.mark.fault("64 builders at once", "one compiles, all try the library side by side")
def test_64_ranks_compile_once_and_try_the_library_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = plan(facts(), None, str(tmp_path / "cache"), None)
    compiled: list[str] = []
    # Each opens when 63 ranks are there: they wait for the one that compiles, and then try the library at once. If they
    # did that in turn, the first would wait in vain.
    waiting, together = threading.Semaphore(0), threading.Barrier(RANKS - 1, timeout=60)

    def say(text: str) -> None:
        if text.startswith("waiting for "):
            waiting.release()

    def compile_library(tools: Tools, here: Any, backend: str, work: str) -> str:
        compiled.append(work)
        for _ in range(RANKS - 1):
            assert waiting.acquire(timeout=60)
        Path(work, "built.so").write_bytes(GOOD)
        return str(Path(work, "built.so"))

    def problem_in_a_child(path: str, backend: str) -> str:
        if path == target.path:
            together.wait()
        return ""

    monkeypatch.setattr(lock, "_POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(build_command, "say", say)
    monkeypatch.setattr(build_command, "compile_library", compile_library)
    monkeypatch.setattr(build_command, "_problem_in_a_child", problem_in_a_child)
    with ThreadPoolExecutor(RANKS) as ranks:
        for done in [ranks.submit(build_command._build_target, target, "/torch") for _ in range(RANKS)]:
            done.result()
    assert len(compiled) == 1
    assert os.listdir(tmp_path / "cache") == [os.path.basename(target.path)]
