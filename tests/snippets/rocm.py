"""Our table on a torch that pretends to be built for ROCm, beside the simulated libc10_hip."""

from __future__ import annotations

import threading
from typing import Any

from tests.snippets.attach import pretend_built_for
from tests.support.structs import CPU, CUDA, CUDA_HOST, EXT_DEV, ROCM, ROCM_HOST


def attached_table() -> Any:
    pretend_built_for("rocm")
    import dlx_torch_ext
    import torch

    status = dlx_torch_ext.attach()
    assert (status.provider, status.backend) == ("dlx", "rocm"), status

    from tests.support.table import Table, capsule_address

    return Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))


def streams_of_both_device_types() -> dict[str, Any]:
    """Current streams in the main thread, and in another one before and after it sets one."""
    table = attached_table()
    from tests.simulators.rocm import recorder

    recorder.set_stream(0, 0x1110)
    recorder.set_stream(1, 0x2220)
    main = [table.stream(device_type, index) for device_type in (ROCM, CUDA) for index in (0, 1)]
    other: list[int | None] = []

    def work() -> None:
        other.append(table.stream(ROCM, 1))
        recorder.set_stream(1, 0x3330)
        other.append(table.stream(ROCM, 1))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    unknown = [(ROCM, 2), (CUDA, -1), (ROCM, 128), (EXT_DEV, 0)]
    return {
        "main": main,
        "other": other,
        "main_afterwards": table.stream(ROCM, 1),
        "host": [table.stream(device_type, 0) for device_type in (CPU, CUDA_HOST, ROCM_HOST)],
        "errors": [type(table.try_stream(*device)[0].error).__name__ for device in unknown],
    }


def round_trip_on_the_host() -> list[bool]:
    """Whether the values and the memory are the same."""
    table = attached_table()
    import torch

    x = torch.arange(6.0).reshape(2, 3).t()
    back = table.to_torch(table.export(x).release())
    return [back.tolist() == x.tolist(), back.data_ptr() == x.data_ptr()]
