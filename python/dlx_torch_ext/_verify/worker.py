"""Runs the checks, in a process of its own, and tells its parent of each: a check may hang or end the process."""

from __future__ import annotations

import json
import os
import platform
from typing import Any

from .. import _api, _facts
from . import runtimes, tables
from .checks import CHECKS, verdict
from .device import Device
from .outcome import Failed


def main(fd: int) -> None:
    """Writes JSON objects to the pipe, one a line: what it is `doing` now, the `facts`, a `check`, and at last `end`,
    which is "done" or why nothing could be checked."""
    with os.fdopen(fd, "w", encoding="utf-8") as pipe:

        def tell(**what: Any) -> None:
            print(json.dumps(what), file=pipe, flush=True)

        tell(doing="import torch")
        torch, problem = _facts.import_torch()
        kind = None if torch is None else runtimes.of(torch)
        if kind is None:
            tell(end="no device", detail=problem or "torch finds no device of CUDA, ROCm or Ascend here")
            return
        try:
            _run(torch, kind, tell)
        except Failed as error:
            tell(end="failed", detail=str(error))


def _run(torch: Any, kind: type[runtimes.Runtime], tell: Any) -> None:
    status = _api.attach()
    if status.provider == "none":
        raise Failed(f"torch.Tensor has no DLPack exchange table: {status.reason}")
    runtime = kind()
    tell(
        facts={
            "backend": runtime.kind,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
            "platform": f"{platform.system()} {platform.machine()}",
            "table": status.variant or status.provider,
        }
    )
    found = tables.here(torch, status)
    tell(doing="make streams and memory")
    devices = all_devices(torch, runtime)
    names = {device.name: str(device.module.get_device_name(device.index)) for device in devices}
    tell(facts={"runtime": {"library": os.path.basename(runtime.path), **runtime.versions()}, "devices": names})
    for device in devices:
        for name in CHECKS:
            for table in found:
                tell(doing=f"{device.name}, {name}, table {table.name}")
                result, detail = verdict(name, device, table)
                about = {"device": device.name, "check": name, "table": table.name}
                tell(check={**about, "verdict": result, "detail": detail})
    tell(end="done", detail="")


def all_devices(torch: Any, runtime: runtimes.Runtime) -> list[Device]:
    words: dict[int, str] = {}
    count = getattr(torch, runtime.module).device_count()
    devices = [Device(torch, runtime, index, words) for index in range(count)]
    for device in devices:
        device.others = [other for other in devices if other is not device]
    return devices
