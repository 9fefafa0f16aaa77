"""The checks of `dlx-torch verify` on one faulty table after the other (wrong_table.c), in one process."""

from __future__ import annotations

import ctypes
import os
from typing import Any


def failed_checks(faults: list[str]) -> dict[str, dict[str, list[str]]]:
    """For each fault the checks that failed, with what they said."""
    import dlx_torch_ext
    import torch
    from dlx_torch_ext._verify import checks, runtimes, tables, worker

    status = dlx_torch_ext.attach()
    kind = runtimes.of(torch)
    assert kind is not None
    in_use, *others = tables.here(torch, status)
    table = faulty_overlay(others[0]) if others else in_use
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


def faulty_overlay(upstream: Any) -> Any:
    """No setting names the library of an overlay, so this one is not attached."""
    from dlx_torch_ext._verify import tables

    make = ctypes.PyDLL(os.environ["DLX_TORCH_LIBRARY"]).dlx_torch_overlay
    make.restype = ctypes.c_void_p
    return tables.Table("overlay", make(ctypes.c_void_p(ctypes.addressof(upstream.api))), counts=True)


def tables_here(prefer: str) -> dict[str, Any]:
    """The names of the tables, and whether each counts; and whose table torch.Tensor has afterwards."""
    import dlx_torch_ext
    import torch
    from dlx_torch_ext._verify import tables

    found = tables.here(torch, dlx_torch_ext.attach(prefer=prefer))
    view = torch.arange(6.0)
    for table in found:
        assert table.to_torch(table.export(view)).data_ptr() == view.data_ptr()
    return {
        "tables": [[table.name, table.counts] for table in found],
        "different": len({ctypes.addressof(table.api) for table in found}) == len(found),
        "attached": dlx_torch_ext.status().provider,
    }
