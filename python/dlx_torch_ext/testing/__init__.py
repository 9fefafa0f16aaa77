"""Tests of a library that calls kernels, without the hardware: tensors that claim a device and answer as they are told.

    x = probe((2, 3), device=("cuda", 1), stream=0xBEEF0)
    launch(x, torch.empty_like(x))  # both are of x's type, and have its table
    assert x.probe.asked("current_work_stream")[0].device == (2, 1)

Any torch will do, and no library of ours is needed. CPython only.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple, Union

from .._capsule import make_capsule
from .._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE, VERSION
from ._answers import DEVICES, NAMES, Call, Fail, Probe
from ._table import describe, make_table

__all__ = ["Call", "Probe", "probe"]


def probe(
    source: Any = (2, 3),
    device: Tuple[Union[str, int], int] = ("cuda", 1),
    stream: int = 0xBEEF0,
    *,
    dtype: Any = None,
    fail: Optional[Fail] = None,
    version: Tuple[int, int] = VERSION,
) -> Any:
    """A tensor in host memory, of a new subclass of torch.Tensor with a table and a `__dlpack__` of its own.

    - `source`: a shape, or a tensor in host memory, which is shared.
    - `device`: what it claims: a name or a DLDeviceType, and an index. To torch it is on the CPU.
    - `stream`: the answer of current_work_stream, for every device.
    - `dtype`: torch's, of new memory; or a DLDataType (code, bits, lanes) that is only claimed.
    - `fail`: by its name, what a function of the table or a method does in place of its work. An exception is set; the
      allocator gives it to SetError. A number is returned, with nothing set or written. None, if said here, is NULL.
    - `version`: the DLPack version that the table claims.

    `.probe` of the tensor is its `Probe`. ValueError for arguments that make no sense.

    Who owns what: views, and what torch's functions make of the tensor, are of its type and share its `probe`. Type and
    table live as long as the process, since consumers keep them. A borrowed view ends with its tensor.

    Threads and the GIL: functions and deleters take the GIL, so any thread may call them until the interpreter ends;
    not while an exception is pending.
    """
    import torch

    for name, told in (fail or {}).items():
        if name not in NAMES or not isinstance(told, (BaseException, int, type(None))):
            raise ValueError(f"fail[{name!r}] is {told!r}; an exception, a number or None for one of {NAMES} is needed")
    kind, index = device
    number = DEVICES.get(kind) if isinstance(kind, str) else kind
    if type(number) is not int:
        raise ValueError(f"the device {kind!r} is no DLDeviceType, and none of {tuple(DEVICES)}")
    claimed = dtype if isinstance(dtype, tuple) else None
    if not isinstance(source, torch.Tensor):
        source = torch.zeros(source, dtype=None if claimed else dtype)
    elif source.device.type != "cpu" or dtype is not claimed:
        raise ValueError("a tensor must be in host memory and has its dtype; only a DLDataType can be claimed")
    answers = Probe((number, index), claimed, stream, fail or {})

    class ProbeTensor(torch.Tensor):  # type: ignore[misc]
        probe = answers

        def __dlpack_device__(self) -> Tuple[int, int]:
            answers.ask("__dlpack_device__", answers.device)
            return answers.device

        def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
            answers.ask("__dlpack__", answers.device, tuple(self.shape), stream)
            return describe(answers, self)[0]

    table = make_table(answers, ProbeTensor, version)
    setattr(ProbeTensor, CAPSULE_ATTRIBUTE, make_capsule(table))
    setattr(ProbeTensor, LEGACY_ATTRIBUTE, table)
    return source.as_subclass(ProbeTensor)
