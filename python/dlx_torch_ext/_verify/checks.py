"""The checks, in the order in which they run. Each is a function of a device and a table, and raises where it fails."""

from __future__ import annotations

from typing import Any, Callable

from . import order
from .device import Device
from .runtimes import Failed
from .tables import Table


class LeftOut(Exception):
    """What a check says that has no subject here."""


def named(device: Device, table: Table) -> None:
    """By its handle, the stream is torch's current one: the default, a side stream, and with no device of its own."""
    for stream in (device.default, device.side, device.second):
        with device.within(stream):
            _expect_stream(device, table, stream)


def _expect_stream(device: Device, table: Table, stream: Any) -> None:
    found = device.named_by(table)
    if found != device.handle(stream):
        raise Failed(f"the table names {device.describe(found)}, expected {device.describe(device.handle(stream))}")


# By its name in the report: the function, and whether only tables of ours promise it.
CHECKS: dict[str, tuple[Callable[[Device, Table], None], bool]] = {
    "stream by its handle": (named, False),
    "order on the default stream": (order.default_stream, False),
    "order on a side stream": (order.side_stream, False),
    "order in another thread": (order.another_thread, False),
}


def verdict(name: str, device: Device, table: Table) -> tuple[str, str]:
    """One of "ok", "failed", "left out" and, for what fails in a table that is not ours, "not promised"; and why."""
    function, ours_only = CHECKS[name]
    try:
        function(device, table)
    except LeftOut as reason:
        return "left out", str(reason)
    except Exception as error:
        text = str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"
        first = (text.strip().splitlines() or [""])[0]
        return "not promised" if ours_only and not table.ours else "failed", first
    return "ok", ""
