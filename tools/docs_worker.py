"""Run by ./dev docs in an environment with torch_npu: answers one question to the table on torch.Tensor in a word."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
import torch_npu

from tests.support.foreign_tensors import Foreign
from tests.support.table import Table, capsule_address

EXT_DEV = 12


def table() -> "Table | None":
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    return None if capsule is None else Table(capsule_address(capsule))


def stream() -> str:
    """On both devices, inside a stream of their own: "right", "NULL", "wrong", or the kind of the error."""
    words = set()
    asked = table()
    if asked is None:
        return "no table"
    for index in (0, 1):
        torch.empty(1, device=f"npu:{index}")
        side = torch.npu.Stream(f"npu:{index}")
        with torch.npu.stream(side):
            outcome, seen = asked.try_stream(EXT_DEV, index)
            if outcome.error is not None:
                words.add(type(outcome.error).__name__)
            else:
                words.add("right" if seen == side.npu_stream else "NULL" if not seen else "wrong")
    return ", ".join(sorted(words))


def imported() -> str:
    """Memory on npu:1 comes in: does the tensor have torch_npu's own storage? What reads its description tells."""
    asked = table()
    if asked is None:
        return "no table"
    memory = torch.empty(64, device="npu:1")
    try:
        made = asked.to_torch(Foreign((2, 3), device=(EXT_DEV, 1), data=memory.data_ptr()).address)
        made_format = int(torch_npu.get_npu_format(made))
    except Exception as error:
        return f"unsafe: {type(error).__name__}"
    expected = int(torch_npu.get_npu_format(torch.empty(2, 3, device="npu:1")))
    return "right" if made_format == expected else "unsafe"


if __name__ == "__main__":
    import dlx_torch_ext

    if torch.__version__ < "2.5":
        dlx_torch_ext.attach()
    print(json.dumps({"stream": stream, "import": imported}[sys.argv[1]]()))
