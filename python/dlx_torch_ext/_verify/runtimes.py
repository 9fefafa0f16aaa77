"""The vendors' runtimes, as C functions of the library that torch has loaded. Each call releases the GIL."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable
from typing import Any

from .outcome import Failed

_P, _N, _I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
_DEVICE_TO_HOST, _DEVICE_TO_DEVICE = 2, 3  # in all three
NOT_READY = 600  # in CUDA and in HIP


class Runtime:
    """CUDA's. Streams are the addresses of their handles; 0 is the default stream of the current device."""

    kind, module, handle, dl_device = "cuda", "cuda", "cuda_stream", 2
    library, prefix, host_alloc = "cudart", "cuda", "cudaHostAlloc"
    driver = "/proc/driver/nvidia/version", r"Module.*?(\d+\.[\d.]+)"

    def __init__(self) -> None:
        self.path = loaded(self.library)
        if not self.path:
            raise Failed(f"torch has loaded no lib{self.library}.so, which is needed to give work to a stream")
        self._functions = ctypes.CDLL(self.path)

    def do(self, name: str, *arguments: Any, allowed: int = 0) -> int:
        """Calls a function of the runtime and returns 0 or what is `allowed` besides."""
        rc = int(getattr(self._functions, name)(*arguments))
        if rc not in (0, allowed):
            raise Failed(f"{name} returned {rc}")
        return rc

    def number(self, name: str) -> int:
        """What a function answers through a pointer to int."""
        out = _I()
        self.do(name, ctypes.byref(out))
        return out.value

    def versions(self) -> dict[str, str]:
        """Of the driver in the kernel, where that tells, and of the runtime."""
        return {"driver": _driver(*self.driver), "runtime": self.runtime_version()}

    def runtime_version(self) -> str:
        number = self.number("cudaRuntimeGetVersion")  # 12080
        return f"{number // 1000}.{number % 1000 // 10}"

    def host_memory(self, size: int) -> int:
        """The address of page-locked memory, which is never freed: copies to other memory may wait for the device."""
        out = _P()
        self.do(self.host_alloc, ctypes.byref(out), _N(size), 0)
        return out.value or 0

    def copy(self, to: int, source: int, size: int, stream: int, *, to_host: bool = False) -> None:
        """Gives a copy of device memory to the stream."""
        kind = _DEVICE_TO_HOST if to_host else _DEVICE_TO_DEVICE
        self.do(f"{self.prefix}MemcpyAsync", _P(to), _P(source), _N(size), kind, _P(stream))

    def call(self, stream: int, function: Any, data: Any) -> Callable[[], object]:
        """Gives a call of the C function to the stream, which waits until that returns. What this returns has to be
        called after that. The stream is one of the current device."""
        self.do(f"{self.prefix}LaunchHostFunc", _P(stream), function, data)
        return lambda: None

    def is_done(self, stream: int) -> bool:
        """Whether all work of the stream is done. Does not wait."""
        return self.do(f"{self.prefix}StreamQuery", _P(stream), allowed=NOT_READY) == 0

    def wait(self, stream: int) -> None:
        self.do(f"{self.prefix}StreamSynchronize", _P(stream))


class Hip(Runtime):
    """ROCm's. torch calls its devices cuda."""

    kind, dl_device = "rocm", 10
    library, prefix, host_alloc = "amdhip64", "hip", "hipHostMalloc"
    driver = "/sys/module/amdgpu/version", r"(\S+)"

    def runtime_version(self) -> str:
        number = self.number("hipRuntimeGetVersion")  # 60241133
        return f"{number // 10**7}.{number // 10**5 % 100}.{number % 10**5}"


class Cann(Runtime):
    """Ascend's."""

    kind, module, handle, dl_device = "torch_npu", "npu", "npu_stream", 12
    library, prefix = "ascendcl", "aclrt"
    driver = "/usr/local/Ascend/driver/version.info", r"Version=(\S+)"

    def runtime_version(self) -> str:
        numbers = (_I(), _I(), _I())
        self.do("aclrtGetVersion", *map(ctypes.byref, numbers))
        return ".".join(str(number.value) for number in numbers)

    def host_memory(self, size: int) -> int:
        out = _P()
        self.do("aclrtMallocHost", ctypes.byref(out), _N(size))
        return out.value or 0

    def copy(self, to: int, source: int, size: int, stream: int, *, to_host: bool = False) -> None:
        kind = _DEVICE_TO_HOST if to_host else _DEVICE_TO_DEVICE
        self.do("aclrtMemcpyAsync", _P(to), _N(size), _P(source), _N(size), kind, _P(stream))

    def call(self, stream: int, function: Any, data: Any) -> Callable[[], object]:
        """CANN calls the function on a thread that asks for such calls, one for each stream here."""
        device, ended = self.number("aclrtGetDevice"), threading.Event()

        def process() -> None:
            self.do("aclrtSetDevice", device)
            while not ended.is_set():
                self._functions.aclrtProcessReport(100)  # milliseconds; it fails if there was no call

        thread = threading.Thread(target=process, daemon=True)
        thread.start()
        of_stream = ctypes.c_uint64(thread.ident or 0), _P(stream)
        self.do("aclrtSubscribeReport", *of_stream)
        blocking = 1
        self.do("aclrtLaunchCallback", function, data, blocking, _P(stream))

        def end() -> None:
            ended.set()
            thread.join()
            self.do("aclrtUnSubscribeReport", *of_stream)

        return end

    def is_done(self, stream: int) -> bool:
        out = _I()
        self.do("aclrtStreamQuery", _P(stream), ctypes.byref(out))
        return out.value == 0

    def wait(self, stream: int) -> None:
        self.do("aclrtSynchronizeStream", _P(stream))


def _driver(file: str, pattern: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            found = re.search(pattern, text.read())
    except OSError:
        found = None
    return found[1] if found else "unknown"


def loaded(library: str) -> str:
    """The path of the library, which may have a version or a digest in its name, in this process; "" if it is not."""
    pattern = re.compile(rf"/lib{library}(-[0-9a-f]+)?\.so[.\d]*$")
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = (line.rstrip("\n").split(maxsplit=5)[-1] for line in maps)
        return next((path for path in paths if pattern.search(path)), "")


def of(torch: Any) -> type[Runtime] | None:
    """That of the accelerator that torch can use here; None without one."""
    if torch.cuda.is_available():
        return Hip if torch.version.hip else Runtime
    npu = getattr(torch, "npu", None)
    return Cann if npu is not None and npu.is_available() else None
