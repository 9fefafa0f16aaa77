"""What is known of the torch of this interpreter without importing it."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version

from tests.simulators import vendor

LINE = tuple(int(part) for part in version("torch").split(".")[:2])  # the release line: (2, 9) for 2.9.1
NAME = f"torch {LINE[0]}.{LINE[1]}"

CALLS_EXTENSIONS = LINE >= (2, 5)  # when it is imported
HAS_OWN_TABLE = LINE >= (2, 10)
BUILT_FOR_CUDA = "cuda" in vendor.version_strings(vendor.installed("torch"))
HAS_TORCH_NPU = importlib.util.find_spec("torch_npu") is not None
