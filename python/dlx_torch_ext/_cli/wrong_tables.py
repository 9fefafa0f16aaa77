"""Which tables of torch's own are known to be wrong, and for which accelerator. The doctor warns of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Tuple

from .._facts import Facts
from .._record import Record

Line = Tuple[int, int]  # the release line 2.13 is (2, 13)


class Wrong(Record):
    """`accelerator`: as `accelerator_of` names it. `first`, `fixed`: the first release line of torch that is wrong, and
    the first that is not any more. `what` is wrong, `remedy` for it. `evidence`: where it was seen or repaired."""

    accelerator: str
    first: Line
    fixed: Line
    what: str
    remedy: str
    evidence: str


WRONG = (
    Wrong(
        "torch_npu",
        (2, 10),
        (2, 13),
        "torch's own table answers NULL for its stream: kernels run on the default stream, whatever torch.npu.stream"
        " says",
        "install the wheel of dlx-torch-ext for this platform, which has an overlay",
        "docs/ascend.md, where each torch_npu is run",
    ),
    Wrong(
        "xpu",
        (2, 10),
        (2, 13),
        "torch's own table answers NULL for its stream: kernels run on the default queue, whatever torch.xpu.stream"
        " says",
        "upgrade torch to 2.13",
        "https://github.com/pytorch/pytorch/pull/179140, https://github.com/intel/torch-xpu-ops/issues/3074",
    ),
    Wrong(
        "mps",
        (2, 13),
        (2, 14),
        "torch's own table answers a stream of Metal that kernels cannot use",
        "set DLX_TORCH_PREFER=dlx for a table that answers NULL there",
        "https://github.com/tile-ai/tilelang/pull/2639",
    ),
)


def accelerator_of(facts: Facts) -> tuple[str, str]:
    """The accelerator for which a table may be wrong, and how a message begins that names it; ("", "") if none is."""
    if facts.npu:
        return "torch_npu", f"torch_npu {facts.torch_npu} is present"
    if facts.backend == "xpu":
        return "xpu", f"torch {facts.torch} is built for XPU"
    if facts.system == "macos" and facts.machine == "arm64":
        return "mps", f"torch {facts.torch} is built with MPS"
    return "", ""


def warnings(facts: Facts) -> Iterator[str]:
    """A line for each thing that is wrong with torch's own table here. Only for a torch that has its table in use."""
    accelerator, here = accelerator_of(facts)
    for wrong in WRONG:
        if wrong.accelerator == accelerator and facts.line is not None and wrong.first <= facts.line < wrong.fixed:
            yield f"{here}, and {wrong.what}: {wrong.remedy}"
