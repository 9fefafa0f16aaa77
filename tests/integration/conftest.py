"""Decides what can exist on this interpreter's torch. Nothing is skipped: what cannot exist is not collected."""

from __future__ import annotations

import os
from importlib.metadata import version

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])

collect_ignore = []

# The contract is asked of our table. A torch that has a table of its own keeps it, unless this run says otherwise.
if TORCH >= (2, 10) and "DLX_TEST_TABLE" not in os.environ:
    collect_ignore.append("contract")
