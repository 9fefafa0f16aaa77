"""Whether torch has a CUDA or ROCm device, asked below everything that another package can replace.

torch.cuda is not asked: `torch_npu.contrib.transfer_to_npu` puts torch_npu's functions there, and then it is available
because an NPU is. The facts here are which libraries this process has loaded, and what torch's own library counts.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

# The library of torch that counts the devices of a build, and what C++ calls its function; hipify has used two names.
_COUNTERS = {
    "cuda": ("libc10_cuda.so", ("_ZN3c104cuda12device_countEv",)),
    "rocm": ("libc10_hip.so", ("_ZN3c103hip12device_countEv", "_ZN3c104cuda12device_countEv")),
}
# What asks the driver without initialising it, as functions of torch.cuda.
_MONITORS = {"cuda": "_device_count_nvml", "rocm": "_device_count_amdsmi"}


def has_device(torch: Any, build: str) -> bool:
    """Whether the `build`, "cuda" or "rocm", of torch has a device. Makes no device's context, and calls no function
    that torch's own module does not hold.

    torch's count is kept for the life of the process, and torch_npu asks for it when it is imported. Before that the
    count would initialise the driver, which a fork does not survive, so the vendor's monitor is asked first.
    """
    if not is_loaded("libtorch_npu.so") and _monitored(torch, build) > 0:
        return True
    return _counted(torch, build) > 0


def is_loaded(library: str) -> bool:
    """Whether this process has loaded a library of that name; does not load it. Not on Windows."""
    return _loaded(library) is not None


def _loaded(library: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except (OSError, AttributeError):
        return None


def _monitored(torch: Any, build: str) -> int:
    names = vars(getattr(torch, "cuda", torch))
    count = names.get(_MONITORS[build])
    if names.get("__name__") != "torch.cuda" or getattr(count, "__globals__", None) is not names:
        return -1  # somebody has replaced the module or the function
    try:
        return int(count())
    except Exception:  # the monitor is not installed, in as many ways as there are releases
        return -1


def _counted(torch: Any, build: str) -> int:
    library, names = _COUNTERS[build]
    loaded = _loaded(library)
    for name in names if loaded else ():
        count = getattr(loaded, name, None)
        if count is not None:
            count.restype = ctypes.c_int8
            return int(count())
    count = getattr(getattr(torch, "_C", None), "_cuda_getDeviceCount", None)
    try:  # a build in one library; this also arms torch's warning of forks
        return int(count() if count is not None else not is_torch_npus(torch) and torch.cuda.is_available())
    except Exception:
        return 0


def is_torch_npus(torch: Any) -> bool:
    """Whether torch_npu has put a function of its own in the place of torch.cuda.is_available."""
    function = getattr(getattr(torch, "cuda", None), "is_available", None)
    return str(getattr(function, "__module__", "")).partition(".")[0] == "torch_npu"
