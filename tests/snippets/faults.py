"""What a host does with an installation of ours that is broken, or breaks under it; in a fork that has torch."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.process import fork
from tests.support.table import Table, capsule_address


def start(site: str) -> Any:
    """The package in the folder `site`, after what `import torch` does at its end."""
    _call_the_entry_point(site)
    return importlib.import_module("dlx_torch_ext")


def _call_the_entry_point(site: str) -> None:
    import dlx_torch_ext

    dlx_torch_ext.detach()
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("dlx_torch_ext")]:
        del sys.modules[name]
    sys.path.insert(0, site)
    importlib.invalidate_caches()
    importlib.import_module("dlx_torch_ext_autoload").__repr__()


def outcome(package: Any) -> dict[str, Any]:
    """Whose table there is, why, and whether a tensor goes there and back; a wrong table raises."""
    import torch

    status = package.attach()
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is not None:
        tensor = torch.arange(24.0).view(4, 6)[1:, ::2]
        exported = Table(capsule_address(capsule)).export(tensor)
        assert (exported.shape, exported.strides) == (tuple(tensor.shape), tensor.stride())
        back = Table(capsule_address(capsule)).to_torch(exported.release())
        assert torch.equal(back, tensor)
        assert back.data_ptr() == tensor.data_ptr()
    return {"provider": status.provider, "library": status.library, "reason": status.reason}


def host(site: str) -> dict[str, Any]:
    """What a host sees: of `import torch` its warnings, then a table or the error of calling us."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _call_the_entry_point(site)
    try:
        seen = outcome(importlib.import_module("dlx_torch_ext"))
    except (ImportError, SyntaxError, ValueError) as error:
        seen = {"provider": type(error).__name__, "reason": str(error)}
    return {**seen, "warnings": [str(one.message) for one in caught]}


def host_while_it_is_removed(site: str) -> list[str]:
    """An uninstall under a running process."""
    package = start(site)
    first = outcome(package)
    shutil.rmtree(site)
    return [first["provider"], outcome(package)["provider"], package.attach(prefer="dlx", strict=True).provider]


def host_while_it_is_replaced(site: str, newer: str) -> list[str]:
    """An upgrade under a running process: every file is another one, and the libraries are not what they were."""
    package = start(site)
    first = outcome(package)
    shutil.rmtree(site)
    shutil.copytree(newer, site)
    for library in Path(site, "dlx_torch_ext", "_lib").rglob("*.so"):
        library.write_bytes(library.read_bytes()[:5000])
    return [first["provider"], outcome(package)["provider"], package.attach(prefer="dlx", strict=True).provider]


@contextmanager
def running(*works: Callable[[], object]) -> Iterator[None]:
    """Other threads do these works, over and over, while the block runs."""
    stop = threading.Event()

    def repeat(work: Callable[[], object]) -> None:
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def read_all_locals() -> None:
    """What a sampling profiler does."""
    for frame in sys._current_frames().values():
        here: Any = frame
        while here is not None:
            dict(here.f_locals)
            here = here.f_back


def attach_under_samplers(count: int) -> list[str]:
    import dlx_torch_ext

    providers = set()
    with running(read_all_locals, read_all_locals):
        for _ in range(count):
            dlx_torch_ext.detach()
            providers.add(dlx_torch_ext.attach().provider)
    return sorted(providers)


def attach_and_detach_in_threads(count: int) -> list[str]:
    """While other threads use the table that a consumer has kept."""
    import dlx_torch_ext
    import torch

    dlx_torch_ext.attach(strict=True)
    kept = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
    tensor = torch.ones(3)

    def use() -> None:
        kept.to_torch(kept.export(tensor).release())

    providers = set()
    with running(dlx_torch_ext.detach, dlx_torch_ext.status, dlx_torch_ext.attach, use):
        for _ in range(count):
            providers.add(dlx_torch_ext.attach().provider)
            dlx_torch_ext.detach()
    return sorted({*providers, outcome(dlx_torch_ext)["provider"]})


def fork_while_threads_attach(count: int) -> list[str]:
    """What each child of a process sees whose threads attach and detach all the time. Python forks: where C forks while
    threads wait for the GIL, CPython itself may hang in the child, when the GIL is next released.
    """
    import dlx_torch_ext

    calls = (dlx_torch_ext.attach, dlx_torch_ext.detach, dlx_torch_ext.status)
    with running(*calls):
        children = [fork.run(child_of_a_busy_parent, env=None).answer for _ in range(count)]
    return sorted(set(children))


def child_of_a_busy_parent() -> str:
    import dlx_torch_ext

    provider: str = outcome(dlx_torch_ext)["provider"]
    dlx_torch_ext.detach()
    assert dlx_torch_ext.status().provider == "none"
    return provider


def in_a_subinterpreter() -> str:
    """torch cannot be imported there: what our package says."""
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    interpreters: Any = importlib.import_module(name)
    reader, writer = os.pipe()
    made = interpreters.create()
    program = (
        f"import sys, os; sys.path[:] = {sys.path!r}; sys.modules['torch'] = None\n"
        "import dlx_torch_ext\n"
        "answer = dlx_torch_ext.attach().provider\n"
        f"os.write({writer}, answer.encode())\n"
    )
    interpreters.run_string(made, program)
    interpreters.destroy(made)
    return os.read(reader, 100).decode()
