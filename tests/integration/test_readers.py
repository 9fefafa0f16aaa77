"""What other libraries make of torch's tensors with us and without us, and whether they read the table."""

from __future__ import annotations

import importlib.util

import pytest

from tests.snippets import readers
from tests.support.left_out import cases, left_out_if
from tests.support.process import spawn
from tests.support.this_torch import HAS_OWN_TABLE, NAME

pytestmark = left_out_if(HAS_OWN_TABLE, f"{NAME} has a table of its own, with us and without us")

EXPORT = "managed_tensor_from_py_object_no_sync"
# The library's module, and what it asks of a tensor's table.
READERS: dict[str, tuple[str, list[str]]] = {
    "apache_tvm": ("tvm", [EXPORT]),
    "cute_dsl": ("nvidia_cutlass_dsl", [EXPORT]),
    "cute_dsl_by_default": ("nvidia_cutlass_dsl", []),
    "tilelang": ("tilelang", []),
}
LEFT_OUT = {
    name: (importlib.util.find_spec(module) is None, f"{module} is not installed, which a session of its own has")
    for name, (module, _) in READERS.items()
}
# torch-c-dlpack-ext, which some of them require, would compile or load a table of its own.
WITHOUT_US = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}


@pytest.mark.parametrize("library", cases(READERS, LEFT_OUT))
def test_equal_results_and_the_table_is_read(library: str) -> None:
    ours = spawn.call(readers.used, library, True)
    without = spawn.call(readers.used, library, False, env=WITHOUT_US)
    assert (ours["table"], without["table"]) == (True, False)
    assert ours["result"] == without["result"]
    assert ours["asked"] == READERS[library][1]
