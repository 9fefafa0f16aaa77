"""What a probe answers, and the record of what it was asked."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional, Tuple, Union

from .._dlpack import FUNCTIONS

DEVICES = {
    "cpu": 1,
    "cuda": 2,
    "cuda_host": 3,
    "metal": 8,
    "rocm": 10,
    "rocm_host": 11,
    "ext_dev": 12,
    "npu": 12,
    "ascend": 21,
}
NAMES = (*FUNCTIONS, "__dlpack__", "__dlpack_device__")

Fail = Mapping[str, Union[BaseException, int, None]]


class Call(NamedTuple):
    """What was asked: a function by DLPack's name, or "deleter"; for which device, or which one the answer claims; the
    stream that was answered, and that `__dlpack__` was given."""

    function: str
    device: Optional[Tuple[int, int]] = None
    shape: Optional[Tuple[int, ...]] = None
    stream: Optional[int] = None


class Probe:
    """What the tensors of one type answer and were asked. `stream` and `fail` may be changed."""

    def __init__(self, device: Tuple[int, int], dtype: Any, stream: int, fail: Fail) -> None:
        self.device, self.dtype, self.stream, self.fail = device, dtype, stream, dict(fail)
        self.calls: list[Call] = []

    def asked(self, function: str) -> list[Call]:
        """The calls of one function."""
        return [call for call in self.calls if call.function == function]

    def ask(self, *call: Any) -> None:
        """Records a call. Raises what the function does in place of its work."""
        self.calls.append(Call(*call))
        told = self.fail.get(call[0])
        if isinstance(told, BaseException):
            raise told
        if told is not None:
            raise Told(told)


class Told(Exception):
    """The number that a function returns in place of its work."""
