"""What torch does in a process of its own, with the table attached."""

from __future__ import annotations

from typing import Any

import dlx_torch_ext
import torch
import torch.multiprocessing


def _matmul_relu_and_sum(x: Any, y: Any) -> Any:
    return torch.relu(x @ y) + x.sum()


def compile_and_export() -> None:
    dlx_torch_ext.attach()
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    compiled = torch.compile(_matmul_relu_and_sum, fullgraph=True)
    torch.testing.assert_close(compiled(x, y), _matmul_relu_and_sum(x, y))
    layer = torch.nn.Linear(4, 2)
    exported = torch.export.export(layer, (y,))
    torch.testing.assert_close(exported.module()(y), layer(y))


def _double(inbox: Any, outbox: Any) -> None:
    """Stays until the result has been received: the memory is handed over by the process that allocated it."""
    outbox.put(inbox.get() * 2)
    assert inbox.get() == "received"


def double_through_a_queue(method: str) -> Any:
    """The values 0 to 3, doubled by another process that is started with this method."""
    context = torch.multiprocessing.get_context(method)
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=_double, args=(inbox, outbox))
    process.start()
    inbox.put(torch.arange(4.0))
    values = outbox.get().tolist()
    inbox.put("received")
    process.join()
    assert process.exitcode == 0, process.exitcode
    return values


def import_distributed_tensors() -> None:
    import torch.distributed.tensor  # noqa: F401
