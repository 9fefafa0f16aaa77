"""The checks, in the order in which they run. Each is a function of a device and a table, and raises where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import capture, forks, memory, order
from .device import Device
from .outcome import Failed, LeftOut
from .tables import DLX, OVERLAY, UPSTREAM, Table


def named(device: Device, table: Table) -> None:
    """By its handle, the stream is torch's current one: the default, a side stream, and with no device of its own."""
    for stream in (device.default, device.side, device.second):
        with device.within(stream):
            _expect_stream(device, table, stream)


def _expect_stream(device: Device, table: Table, stream: Any) -> None:
    found = device.named_by(table)
    if found != device.handle(stream):
        raise Failed(f"the table names {device.describe(found)}, expected {device.describe(device.handle(stream))}")


_EVERY = (DLX, OVERLAY, UPSTREAM, "foreign")
# By its name in the report: the function, and whose tables promise it.
CHECKS: dict[str, tuple[Callable[[Device, Table], None], tuple[str, ...]]] = {
    "stream by its handle": (named, _EVERY),
    "order on the default stream": (order.default_stream, _EVERY),
    "order on a side stream": (order.side_stream, _EVERY),
    "order in another thread": (order.another_thread, _EVERY),
    "order with another device current": (order.another_device, _EVERY),
    "capture of a graph": (capture.graph, _EVERY),
    "round trips": (memory.round_trip, _EVERY),
    "allocation": (memory.allocation, _EVERY),
    "allocation in a MemPool": (memory.pool, _EVERY),
    "refusal of private formats": (memory.private_format, (DLX,)),
    "refusal in a forked child": (forks.child, (DLX, OVERLAY)),
}


def verdict(name: str, device: Device, table: Table) -> tuple[str, str]:
    """One of "ok", "failed", "left out" and "no", which is a failure that does not count; and why."""
    function, promised_by = CHECKS[name]
    try:
        function(device, table)
    except LeftOut as reason:
        return "left out", str(reason)
    except Exception as error:
        text = str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"
        first = (text.strip().splitlines() or [""])[0]
        return "failed" if table.counts and table.name in promised_by else "no", first
    return "ok", ""
