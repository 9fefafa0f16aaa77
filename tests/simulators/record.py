"""For the process under test: the calls that a vendor's simulated libraries have recorded. Standard library only."""

from __future__ import annotations

import ctypes
import os
from typing import Any


def core_library(vendor: str) -> str:
    """Return the name of the library that keeps the record of a vendor (core/sim.c)."""
    return f"libdlx_sim_{vendor}.so"


class Record:
    """The calls of one vendor's functions, from all libraries and threads."""

    def __init__(self, vendor: str, title: str) -> None:
        self._vendor = vendor
        self._title = title  # the vendor's name for people

    def function(self, name: str, result: object, *arguments: type) -> Any:
        """Return a function `dlx_sim_<vendor>_<name>` of the core library, with its C types."""
        found = getattr(self._core(), f"dlx_sim_{self._vendor}_{name}")
        found.restype, found.argtypes = result, arguments
        return found

    def simulated(self) -> bool:
        """Return whether this process has loaded the simulated vendor."""
        try:
            self._core()
        except RuntimeError:
            return False
        return True

    def reset(self) -> None:
        """Forget the calls recorded so far."""
        self.function("reset", None)()

    def calls(self) -> list[str]:
        """Return the names of the functions called since `reset()`, from any thread, in order; stubs are among them."""
        count = self.function("count", ctypes.c_ulong)()
        if count > self.function("capacity", ctypes.c_ulong)():
            raise RuntimeError(f"{count} calls since reset(), more than the record holds: call reset() later")
        name = self.function("name", ctypes.c_char_p, ctypes.c_ulong)
        return [text.decode() for text in map(name, range(count)) if text is not None]

    def _core(self) -> ctypes.CDLL:
        """Return the library that keeps the record, if torch has loaded it; never load it here."""
        try:
            return ctypes.CDLL(core_library(self._vendor), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            message = f"the simulated {self._title} is not loaded: start the process with its folder on LD_LIBRARY_PATH"
            raise RuntimeError(message) from None
