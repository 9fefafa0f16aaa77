"""In a child that was forked after its parent had used the device, the stream is refused: the device cannot be used."""

from __future__ import annotations

import os
import warnings

from .device import Device
from .outcome import Failed, expect
from .tables import Table


def child(device: Device, table: Table) -> None:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CPython's, that a process with threads should not fork
        pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, _answer(device, table).encode(errors="replace"))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    expect("how the forked child ended", status, 0)
    if not answer.startswith("RuntimeError"):
        raise Failed(f"in a forked child the table answered {answer or 'nothing'}, expected RuntimeError")


def _answer(device: Device, table: Table) -> str:
    try:
        return f"with stream {device.named_by(table):#x}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
