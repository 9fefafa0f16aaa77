"""Proves by work that the stream which the table names is ordered with torch's current stream.

A gate holds the current stream. Behind it torch copies `source` to `between`, and the runtime copies `between` to
`target` on the stream that the table names. If that is the current stream, nothing has arrived while the gate is
closed, and all of it afterwards. On any other stream the second copy is done meanwhile, with what was there before.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .device import Device
from .gate import Gate
from .outcome import Failed, LeftOut
from .tables import Table

_ROUNDS = 20  # of a copy that the device does while the gate is closed: work that is not held is done by then
_MOST_ROUNDS = 10_000  # for work that has to be done by then


def default_stream(device: Device, table: Table) -> None:
    _in_order(device, table, device.default)


def side_stream(device: Device, table: Table) -> None:
    _in_order(device, table, device.side)


def another_device(device: Device, table: Table) -> None:
    """The current stream is a device's own, whichever device is current."""
    if not device.others:
        raise LeftOut("there is one device")
    _in_order(device, table, device.side, current=device.others[0])


def another_thread(device: Device, table: Table) -> None:
    """The current stream is a thread's own: while one thread's is held, the other's goes on."""
    with ThreadPoolExecutor(1) as thread:
        for held, free in ((device.side, device.second), (device.second, device.side)):
            thread.submit(_in_order, device, table, held).result()
            device.clear()
            with device.within(held), Gate(device.runtime, device.handle(held)):
                thread.submit(_goes_on, device, table, free).result()


def _goes_on(device: Device, table: Table, stream: Any) -> None:
    with device.within(stream):
        device.copy_by_torch()
        named = device.named_by(table)
    device.copy_on(named)
    for _ in range(_MOST_ROUNDS):
        arrived = device.arrived()
        if arrived == "all" and device.runtime.is_done(named):
            return
    raise Failed(f"{arrived} arrived on {device.describe(named)}, while another thread's stream was held")


def _in_order(device: Device, table: Table, stream: Any, current: Device | None = None) -> None:
    """With `current`, that device is current while torch copies and the table is asked."""
    device.clear()
    with device.within(stream):
        with Gate(device.runtime, device.handle(stream)):
            with device.module.device((current or device).index):
                device.copy_by_torch()
                named = device.named_by(table)
            device.copy_on(named)
            _nothing_arrives(device, named)
        device.runtime.wait(named)
    if device.arrived() != "all":
        raise Failed(f"{device.arrived()} arrived after the gate opened: the table names {device.describe(named)}")


def _nothing_arrives(device: Device, named: int) -> None:
    for _ in range(_ROUNDS):
        if device.arrived() != "nothing" or device.runtime.is_done(named):
            raise Failed(
                f"work on the stream that the table names did not wait for torch's current stream:"
                f" it is {device.describe(named)}"
            )
