"""The table of what was seen on hardware, from the results of `dlx-torch verify` in docs/hardware."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.docs.compatibility import Table
from tools.settings import ToolError

_FOLDER = "https://github.com/dlx-torch-ext/dlx-torch-ext/blob/main/docs/hardware"
COLUMNS = ["device", "driver and runtime", "torch", "backend", "dlx-torch-ext", "checks"]


def seen(folder: Path) -> Table:
    """A row for each file, or one that says that there is none yet."""
    rows = [_row(file) for file in sorted(folder.glob("*.json"))]
    return [COLUMNS, *(rows or [["none yet", *["-"] * (len(COLUMNS) - 1)]])]


def _row(file: Path) -> list[str]:
    try:
        result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        devices, versions = result["devices"], {**result["runtime"]}
        versions.pop("library")
        verdicts = [check["verdict"] for check in result["checks"]]
        passed, torch, backend, version = (result[key] for key in ("passed", "torch", "backend", "dlx-torch-ext"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"{file.name} is no result of `dlx-torch verify --json`: {error!r}") from None
    if any("simulated" in name.lower() for name in devices.values()):
        raise ToolError(f"{file.name} is of simulated devices, and only hardware counts here: remove it")
    counts = f"{verdicts.count('ok')} passed" + ("" if passed else f", {verdicts.count('failed')} failed")
    models = [f"{list(devices.values()).count(name)} x {name}" for name in dict.fromkeys(devices.values())]
    words = ", ".join(f"{name} {value}" for name, value in versions.items())
    return [", ".join(models), words, torch, backend, version, f"[{counts}]({_FOLDER}/{file.name})"]
