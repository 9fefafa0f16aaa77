"""Runs `dlx-torch verify` on simulated devices, also with a table that has a fault (wrong_table.c)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.compiled import library
from tests.support.process import spawn

HANDLE = "stream by its handle"
DEFAULT, SIDE, THREAD, CURRENT = (
    f"order {words}"
    for words in ("on the default stream", "on a side stream", "in another thread", "with another device current")
)
GRAPH, ROUND_TRIPS, ALLOCATION, POOL = "capture of a graph", "round trips", "allocation", "allocation in a MemPool"
FORMATS, FORKED = "refusal of private formats", "refusal in a forked child"
ALL = (HANDLE, DEFAULT, SIDE, THREAD, CURRENT, GRAPH, ROUND_TRIPS, ALLOCATION, POOL, FORMATS, FORKED)

# What is wrong: the checks that fail, and words of each. {} is torch's name for the devices.
FAULTS = {
    "NULL": ((HANDLE, DEFAULT, SIDE, THREAD, CURRENT, GRAPH), "NULL"),
    "another device": ((HANDLE, SIDE, DEFAULT, THREAD, CURRENT, GRAPH), "the second stream of {}:"),
    "not ordered": ((HANDLE, SIDE, DEFAULT, THREAD, CURRENT, GRAPH), "which no stream here has"),
    "current device": ((CURRENT,), "the second stream of {}:"),
    "first thread": ((THREAD,), " stream of {}:"),
    "nothing": ((HANDLE, SIDE, DEFAULT, THREAD, CURRENT, GRAPH, FORKED), "returned 0 and no stream"),
    "silent failure": ((HANDLE, SIDE, DEFAULT, THREAD, CURRENT, GRAPH, FORKED), "returned -1 without an exception"),
    "forked": ((FORKED,), "the table answered with stream 0x0, expected RuntimeError"),
    "first device": ((ALLOCATION, POOL), "expected {}:1"),
    "copy": ((ROUND_TRIPS,), "an imported tensor: "),
    "wrong data": ((ROUND_TRIPS,), "the data of an imported tensor: wrong data, expected all"),
    "export": ((ROUND_TRIPS,), "the device of an export: ("),
    "strides": ((ROUND_TRIPS,), "an imported tensor: "),
    "no allocation": ((ALLOCATION, POOL), "managed_tensor_allocator returned -1 and MemoryError: no"),
    "private format": ((FORMATS,), "was exported as if it was contiguous"),
    "outside": ((POOL,), "is not in that pool"),
}

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


def assert_noticed(said: Mapping[str, list[str]], fault: str, module: str, left_out: Collection[str] = ()) -> None:
    """The checks of FAULTS failed, with their words, and no others."""
    checks, words = FAULTS[fault]
    right = {DEFAULT} if (fault, module) == ("NULL", "cuda") else set()  # CUDA's default streams are NULL
    assert {*checks} - {*left_out} - right == set(said), said
    for texts in said.values():
        assert any(words.format(module) in text for text in texts), said


def assert_on_screen(seen: Verified) -> None:
    """That it failed, and why."""
    assert seen.status == 1, seen
    assert not seen.result["passed"]
    assert seen.stdout.startswith("FAILED: ")
    for check, texts in seen.failed().items():
        assert f", {check}, table " in seen.stdout
        assert all(text in seen.stdout for text in texts), seen


def with_fault(fault: str, right: str, runtime: str) -> dict[str, str]:
    """The environment in which the library at `right` has the fault. `runtime`: the file of the vendor's library."""
    return {
        "DLX_TORCH_LIBRARY": str(library(Path(__file__).with_name("wrong_table.c"), "-D_GNU_SOURCE", "-ldl")),
        "DLX_TEST_RIGHT_LIBRARY": right,
        "DLX_TEST_FAULT": fault,
        "DLX_TEST_RUNTIME": runtime,
    }
