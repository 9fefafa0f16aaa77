"""The checks of `dlx-torch verify` on one faulty table after the other (wrong_table.c), in one process."""

from __future__ import annotations

import os


def failed_checks(faults: list[str]) -> dict[str, dict[str, list[str]]]:
    """For each fault the checks that failed, with what they said."""
    import dlx_torch_ext
    import torch
    from dlx_torch_ext._verify import checks, runtimes, tables, worker

    status = dlx_torch_ext.attach(strict=True)
    kind = runtimes.of(torch)
    assert kind is not None
    table = tables.here(torch, status)[0]
    devices = worker.all_devices(torch, kind())
    found: dict[str, dict[str, list[str]]] = {}
    for fault in faults:
        os.environ["DLX_TEST_FAULT"] = fault
        said = found.setdefault(fault, {})
        for device in devices:
            for name in checks.CHECKS:
                verdict, detail = checks.verdict(name, device, table)
                if verdict == "failed":
                    said.setdefault(name, []).append(detail)
    return found
