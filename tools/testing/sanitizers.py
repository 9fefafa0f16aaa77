"""A process whose library of ours is compiled with sanitizers, while CPython and torch are not.

The compiler's runtimes have to be loaded before everything else. ThreadSanitizer follows the locks of CPython, whose
GIL orders much of what we do, and nothing inside torch's own libraries, whose atomics it cannot see.
"""

from __future__ import annotations

import os
from pathlib import Path

from tools.settings import run

ADDRESS, THREAD = "address,undefined", "thread"

_RUNTIMES = {ADDRESS: ("libasan.so", "libubsan.so", "libstdc++.so.6"), THREAD: ("libtsan.so",)}
_SUPPRESSIONS = Path(__file__).with_name("tsan.supp")


def variables(kind: str) -> dict[str, str]:
    """The environment variables of such a process."""
    compiler = os.environ.get("CXX", "c++").split()[0]
    runtimes = [run([compiler, f"-print-file-name={name}"], what=f"looking for {name}") for name in _RUNTIMES[kind]]
    return {
        "LD_PRELOAD": " ".join(map(str.strip, runtimes)),
        # No leaks: CPython itself never frees everything.
        "ASAN_OPTIONS": "detect_leaks=0:protect_shadow_gap=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"suppressions={_SUPPRESSIONS}",  # after a report the process ends with status 66
        "DLX_TORCH_TEST_SANITIZED": kind,
    }


def prefix(kind: str) -> list[str]:
    """What starts the program: ThreadSanitizer cannot have its memory where addresses are as random as today's are."""
    return ["setarch", "-R"] if kind == THREAD else []
