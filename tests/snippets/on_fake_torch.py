"""Attaching to the fake torch of an installation of the tests, in a new interpreter."""

from __future__ import annotations

import threading
from typing import Any
from unittest import mock


def attach_while_others_import(pairs: int) -> list[str]:
    """The providers that threads see: in each pair, one imports torch and the other attaches."""
    import dlx_torch_ext

    seen: list[str] = []

    def import_torch() -> None:
        import torch  # noqa: F401

        seen.append(dlx_torch_ext.status().provider)

    def attach() -> None:
        seen.append(dlx_torch_ext.attach().provider)

    threads = [threading.Thread(target=work) for work in (import_torch, attach) * pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def attach_with_revision(revision: str) -> list[Any]:
    """Provider, variant, library and reason, and the reasons for the built libraries; the sources have `revision`."""
    import dlx_torch_ext
    from dlx_torch_ext import _cache

    with mock.patch.object(_cache, "revision", return_value=revision):
        status = dlx_torch_ext.attach()
    built = [candidate.verdict.reason for candidate in status.candidates if candidate.exact]
    return [status.provider, status.variant, status.library, status.reason, built]


def selftest_in_a_child() -> dict[str, Any]:
    from dlx_torch_ext._cli import child

    return child.run().as_dict()


def provider_and_reason() -> list[str]:
    """After `import torch`, and nothing else."""
    import dlx_torch_ext
    import torch  # noqa: F401

    status = dlx_torch_ext.status()
    return [status.provider, status.reason]
