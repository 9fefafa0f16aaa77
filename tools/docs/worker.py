"""Test the table on torch.Tensor in an environment with torch_npu, and print the result as one word. ./dev docs runs
this file with one argument: "stream" or "import"."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import torch_npu

from tests.support.foreign_tensors import ForeignTensor
from tests.support.table import Table, capsule_address

EXT_DEV = 12


def attached_table() -> "Table | None":
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    return None if capsule is None else Table(capsule_address(capsule))


def check_stream() -> str:
    """Read the current stream on both devices, each inside a stream of its own. The result: "right", "NULL", "wrong",
    or the class of the error; more than one of them where the devices differ."""
    results = set()
    table = attached_table()
    if table is None:
        return "no table"
    for index in (0, 1):
        torch.empty(1, device=f"npu:{index}")
        side = torch.npu.Stream(f"npu:{index}")
        with torch.npu.stream(side):
            outcome, seen = table.try_stream(EXT_DEV, index)
            if outcome.error is not None:
                results.add(type(outcome.error).__name__)
            else:
                results.add("right" if seen == side.npu_stream else "NULL" if not seen else "wrong")
    return ", ".join(sorted(results))


def check_import() -> str:
    """Import memory on npu:1. The result is "right" if the tensor has a storage of torch_npu's own class: then
    get_npu_format, which reads that storage's description, gives the same as for a tensor of torch's."""
    table = attached_table()
    if table is None:
        return "no table"
    memory = torch.empty(64, device="npu:1")
    try:
        tensor = table.to_torch(ForeignTensor((2, 3), device=(EXT_DEV, 1), data=memory.data_ptr()).address)
        tensor_format = int(torch_npu.get_npu_format(tensor))
    except Exception as error:
        return f"unsafe: {type(error).__name__}"
    expected = int(torch_npu.get_npu_format(torch.empty(2, 3, device="npu:1")))
    return "right" if tensor_format == expected else "unsafe"


if __name__ == "__main__":
    import dlx_torch_ext

    if torch.__version__ < "2.5":
        dlx_torch_ext.attach()
    print(json.dumps({"stream": check_stream, "import": check_import}[sys.argv[1]]()))
