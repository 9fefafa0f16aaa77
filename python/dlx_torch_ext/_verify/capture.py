"""While torch captures a graph, the table names the captured stream, so that other libraries' kernels get into it."""

from __future__ import annotations

from .device import Device
from .outcome import Failed, LeftOut
from .tables import Table


def graph(device: Device, table: Table) -> None:
    module = device.module
    if not hasattr(module, "CUDAGraph"):
        raise LeftOut("graphs are checked on CUDA and ROCm")
    device.clear()
    made = module.CUDAGraph()
    with device.within(device.side), module.graph(made, stream=device.side):
        device.copy_by_torch()
        named = device.named_by(table)
        device.copy_on(named)
    for when, expected in (("before the graph was replayed", "nothing"), ("when it was", "all")):
        if device.arrived() != expected:
            raise Failed(
                f"{device.arrived()} arrived {when}: the table names {device.describe(named)} during the capture"
            )
        with device.within(device.side):
            made.replay()
        module.synchronize(device.index)
