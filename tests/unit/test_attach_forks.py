"""A process that was forked while another thread was inside this package: its calls return, and find what was there."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _attach, _cache

from tests.support.fake_torch import table_attributes
from tests.support.left_out import left_out_if
from tests.support.process import fork

pytestmark = left_out_if(not hasattr(os, "fork"), "this system has no fork")

c_fork: Callable[[], int] = ctypes.PyDLL(None).fork  # runs no handler of Python's; the GIL is held, so Python works


@contextmanager
def another_thread_inside(call: Callable[[], object], torch: Any) -> Iterator[None]:
    """While the block runs, another thread has called `call` and holds this package's lock: it waits in torch."""
    inside, go_on = threading.Event(), threading.Event()
    answer = torch.compiled_with_cxx11_abi

    def wait_here() -> Any:
        if threading.current_thread() is thread:
            inside.set()
            go_on.wait()
        return answer()

    torch.compiled_with_cxx11_abi = wait_here
    thread = threading.Thread(target=call)
    thread.start()
    inside.wait()
    try:
        yield
    finally:
        go_on.set()
        thread.join()


def provider_after(calls: list[str]) -> str:
    for name in calls:
        getattr(dlx, name)()
    return dlx.status().provider


@pytest.mark.parametrize("how", [os.fork, c_fork], ids=["python", "c"])
@pytest.mark.parametrize("inside", ["status", "attach", "resolve"])
@pytest.mark.parametrize("calls", [[], ["attach"], ["detach"], ["detach", "attach"], ["resolve"]], ids="-".join)
@pytest.mark.fault("fork, Python's and C's, while a thread is inside our lock", "the child's calls return")
def test_the_childs_calls_return(how: Callable[[], int], inside: str, calls: list[str], torch: Any) -> None:
    before = dlx.attach().provider if inside != "attach" else "none"
    with another_thread_inside(getattr(dlx, inside), torch):
        child = fork.run(lambda: json.dumps(provider_after(calls)), fork=how)
    expected = {"attach": "dlx", "detach": "none"}.get(calls[-1] if calls else "", before)
    assert child.value == expected, child


@pytest.mark.parametrize("how", [os.fork, c_fork], ids=["python", "c"])
def test_a_grandchild_and_threads_of_a_child_do_as_well(how: Callable[[], int], torch: Any) -> None:
    def in_the_child() -> str:
        seen: list[str] = []
        threads = [threading.Thread(target=lambda: seen.append(dlx.attach().provider)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with another_thread_inside(dlx.status, torch):
            seen.append(fork.run(lambda: json.dumps(dlx.status().provider), fork=how).value)
        return json.dumps(seen)

    with another_thread_inside(dlx.status, torch):
        assert fork.run(in_the_child, fork=how).value == ["dlx"] * 5


@pytest.mark.parametrize("call", ["attach", "status", "resolve", "detach"])
def test_no_call_takes_pythons_import_lock(
    call: str, torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a child that C forked, a thread which does not exist there may hold it. Built libraries are looked for too."""
    monkeypatch.setenv("DLX_TORCH_CACHE_DIR", str(tmp_path))
    facts = _attach.facts_without_ours(torch, "")
    for backend in _cache.BACKENDS:
        (tmp_path / _cache.file_name(facts, backend)).touch()
    getattr(dlx, call)()  # imports what it needs
    monkeypatch.setattr("importlib._bootstrap._ImportLockContext", lambda: pytest.fail("the import lock is taken"))
    getattr(dlx, call)()


def test_a_child_that_was_forked_between_two_attributes_can_attach_and_detach(torch: Any) -> None:
    """Whatever was set before the fork is enough to finish or to undo it."""
    dlx.attach()
    whole = dict(vars(torch.Tensor))
    names = [name for name in whole if name == "__dlx_torch_ext__" or "exchange_api" in name]
    assert names == ["__dlx_torch_ext__", "__c_dlpack_exchange_api__", "__dlpack_c_exchange_api__"], "in this order"
    for count in range(len(names) + 1):

        def in_the_child(missing: tuple[str, ...] = tuple(names[count:])) -> str:
            for name in missing:
                delattr(torch.Tensor, name)
            attached = dlx.attach().provider
            held = sorted(table_attributes(torch))
            dlx.detach()
            return json.dumps([attached, held, sorted(table_attributes(torch))])

        assert fork.run(in_the_child).value == ["dlx", sorted(names[1:]), []], names[:count]
    assert dict(vars(torch.Tensor)) == whole
    assert "torch" in sys.modules
