"""The integration tests import torch once, in pytest's own process, so that no fork has to."""

from __future__ import annotations

import os
import warnings


def pytest_sessionstart() -> None:
    """After the environment of `--table` is set, and before the modules of the tests import torch."""
    # A fork waits for ever for the threads of OpenMP that its parent has started, so that starts none.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of torch_npu, which torch imports if it is installed
        import torch  # noqa: F401
