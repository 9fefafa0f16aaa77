"""One device: its streams, and memory to copy from and to, all made before any stream is held."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from .runtimes import Runtime
from .tables import Table

SIZE = 1 << 16  # bytes of each tensor


class Device:
    """`module` is torch.cuda or torch.npu. `side` and `second` are streams for checks, `probe` one to look with. All
    devices share `words`, in which each stream has its own by its handle."""

    def __init__(self, torch: Any, runtime: Runtime, index: int, words: dict[int, str]) -> None:
        self.torch, self.runtime, self.index = torch, runtime, index
        self.module = getattr(torch, runtime.module)
        self.name = f"{runtime.module}:{index}"
        with self.module.device(index):
            self.default = self.module.default_stream(index)
            self.side, self.probe, self.second = (self.module.Stream(index) for _ in range(3))
            pattern = torch.arange(SIZE, dtype=torch.int32).to(torch.uint8)  # 0 to 255, again and again
            self._pattern = bytes(pattern.tolist())
            self.source, self._zeros = pattern.to(self.name), torch.zeros(SIZE, dtype=torch.uint8).to(self.name)
            self.between, self.target = (torch.empty(SIZE, dtype=torch.uint8, device=self.name) for _ in range(2))
        self._host = runtime.host_memory(SIZE)
        self._words = words
        self.others: list[Device] = []  # the devices beside this one
        for name in ("default", "side", "probe", "second"):
            words[self.handle(getattr(self, name))] = f"the {name} stream of {self.name}"

    def handle(self, stream: Any) -> int:
        return int(getattr(stream, self.runtime.handle))

    def named_by(self, table: Table) -> int:
        """The stream that the table names for this device."""
        return table.stream(self.runtime.dl_device, self.index)

    @contextlib.contextmanager
    def within(self, stream: Any) -> Iterator[None]:
        """A block in which this device is current, and the stream is its current one. Every other device has one that
        is not its default stream, so that no two devices have the same."""
        with contextlib.ExitStack() as blocks:
            for other in self.others:
                blocks.enter_context(self.module.stream(other.second))
            blocks.enter_context(self.module.stream(stream))
            yield

    def clear(self) -> None:
        """Nothing has arrived, and no stream has work."""
        self.between.copy_(self._zeros)
        self.target.copy_(self._zeros)
        self.module.synchronize(self.index)

    def copy_by_torch(self) -> None:
        """On torch's current stream: the first half of the way from `source` to `target`."""
        self.between.copy_(self.source, non_blocking=True)

    def copy_on(self, stream: int) -> None:
        """The second half, on the stream with this handle, as a kernel of another library would run."""
        self.runtime.copy(self.target.data_ptr(), self.between.data_ptr(), SIZE, stream)

    def arrived(self) -> str:
        """What `target` has now: "nothing", "all" or "wrong data". Does not wait for other streams."""
        return self._read(self.target)

    def data_of(self, tensor: Any) -> str:
        """The same of another tensor, when all work on the device is done."""
        self.module.synchronize(self.index)
        return self._read(tensor)

    def _read(self, tensor: Any) -> str:
        probe = self.handle(self.probe)
        self.runtime.copy(self._host, tensor.data_ptr(), SIZE, probe, to_host=True)
        self.runtime.wait(probe)
        found = ctypes.string_at(self._host, SIZE)
        return {bytes(SIZE): "nothing", self._pattern: "all"}.get(found, "wrong data")

    def describe(self, stream: int) -> str:
        """A stream's handle, in words."""
        if not stream:
            return "NULL"
        return self._words.get(stream) or f"{stream:#x}, which no stream here has"
