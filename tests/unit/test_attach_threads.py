"""Attaching and detaching in several threads, inside another attach, and while another thread imports torch."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Callable

import dlx_torch_ext as dlx

from tests.snippets import on_fake_torch
from tests.support.fake_torch import table_attributes
from tests.support.installation import Site, entry

NEW = "__dlpack_c_exchange_api__"
ROW = [entry("2.9", True, "cpu"), entry("2.9", True, "cuda")]


def test_many_threads_attach_once(torch: Any) -> None:
    seen: list[Any] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        for _ in range(20):
            status = dlx.attach()
            seen.append((status, torch.Tensor.__dlpack_c_exchange_api__))

    _run_in_threads(work, 8)
    assert len(seen) == 160
    assert len({status for status, _ in seen}) == 1
    assert len({id(capsule) for _, capsule in seen}) == 1


def test_attaching_and_detaching_in_threads_restores_the_class(upstream: Any) -> None:
    held = table_attributes(upstream)[NEW]
    providers: set[str] = set()

    def work() -> None:
        for _ in range(20):
            providers.add(dlx.attach(prefer="dlx").provider)
            dlx.detach()

    _run_in_threads(work, 6)
    assert providers <= {"dlx", "upstream"}
    assert table_attributes(upstream) == {NEW: held}


def test_attach_may_be_called_while_attaching(torch: Any) -> None:
    inner: list[str] = []
    right = torch.fake_export

    def export(tensor: Any, out: int) -> int:
        if not inner:
            inner.append("begun")
            inner.append(dlx.attach().provider)
        return int(right(tensor, out))

    torch.fake_export = export
    assert dlx.attach().provider == "dlx"
    assert inner == ["begun", "dlx"]
    dlx.detach()
    assert table_attributes(torch) == {}


def _run_in_threads(work: Callable[[], None], count: int) -> None:
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_attaching_while_another_thread_imports_torch(tmp_path: Path) -> None:
    site = Site(tmp_path, ROW, "[__import__('time').sleep(0.2), fake_torch.torch(whole=True)][1]")
    assert site.call(on_fake_torch.attach_while_others_import, 3) == ["dlx"] * 6
