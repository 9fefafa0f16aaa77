"""Runs `dlx-torch verify` on simulated devices, also with a table that has a fault (wrong_table.c)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.compiled import library
from tests.support.process import spawn

NO_SETTINGS = dict.fromkeys(
    ["DLX_TORCH_DISABLE", "DLX_TORCH_AUTOLOAD", "DLX_TORCH_PREFER", "DLX_TORCH_LIBRARY", "NO_COLOR", "FORCE_COLOR"]
)


@dataclass(frozen=True)
class Verified:
    """What the command did. `result`: what it wrote as JSON; {} if nothing."""

    status: int
    stdout: str
    stderr: str
    result: Mapping[str, Any]

    def verdicts(self, check: str) -> set[str]:
        """Of that check, on all devices and tables."""
        return {one["verdict"] for one in self.result["checks"] if one["check"] == check}

    def failed(self) -> dict[str, list[str]]:
        """The checks that failed, with what they said."""
        said: dict[str, list[str]] = {}
        for one in self.result.get("checks", ()):
            if one["verdict"] == "failed":
                said.setdefault(one["check"], []).append(one["detail"])
        return said


def verify(folder: Path, env: Mapping[str, str | None], *arguments: str) -> Verified:
    file = folder / "result.json"
    changes = {**NO_SETTINGS, "COLUMNS": "400", **env}
    finished = spawn.python("-m", "dlx_torch_ext", "verify", "--json", str(file), *arguments, env=changes)
    result = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return Verified(finished.status, finished.stdout, finished.stderr, result)


def with_fault(fault: str, right: str, runtime: str) -> dict[str, str]:
    """The environment in which the library at `right` has the fault. `runtime`: the file of the vendor's library."""
    return {
        "DLX_TORCH_LIBRARY": str(library(Path(__file__).with_name("wrong_table.c"), "-D_GNU_SOURCE", "-ldl")),
        "DLX_TEST_RIGHT_LIBRARY": right,
        "DLX_TEST_FAULT": fault,
        "DLX_TEST_RUNTIME": runtime,
    }
