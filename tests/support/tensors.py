"""Tensors of torch by kind: each dtype with its DLPack name, tensors that DLPack can describe, and others."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, Callable

import torch

# The code, bits and lanes of dlpack.h.
DLPACK_NAMES: dict[str, tuple[int, int, int]] = {
    "bool": (6, 8, 1),
    "uint8": (1, 8, 1),
    "uint16": (1, 16, 1),
    "uint32": (1, 32, 1),
    "uint64": (1, 64, 1),
    "int8": (0, 8, 1),
    "int16": (0, 16, 1),
    "int32": (0, 32, 1),
    "int64": (0, 64, 1),
    "float16": (2, 16, 1),
    "float32": (2, 32, 1),
    "float64": (2, 64, 1),
    "bfloat16": (4, 16, 1),
    "complex32": (5, 32, 1),
    "complex64": (5, 64, 1),
    "complex128": (5, 128, 1),
    "float8_e4m3fn": (10, 8, 1),
    "float8_e4m3fnuz": (11, 8, 1),
    "float8_e5m2": (12, 8, 1),
    "float8_e5m2fnuz": (13, 8, 1),
    "float8_e8m0fnu": (14, 8, 1),
    "float4_e2m1fn_x2": (17, 4, 2),
}
DTYPES = {name: value for name, value in DLPACK_NAMES.items() if hasattr(torch, name)}


def _dtype_name(dtype: object) -> str:
    return str(dtype).rpartition(".")[2]


# All other dtypes of torch, which DLPack has no name for: int1 to int7, bits, quantised ones, complex bfloat16.
NAMELESS = sorted(
    {_dtype_name(value) for value in vars(torch).values() if isinstance(value, torch.dtype)} - set(DLPACK_NAMES)
)


def tensor_of_nameless_dtype(name: str) -> Any:
    """A tensor of such a dtype; a quantised one has a quantiser."""
    dtype = getattr(torch, name)
    if name.startswith("q"):
        return without_warnings(lambda: torch._empty_affine_quantized([4], scale=0.5, zero_point=0, dtype=dtype))
    return without_warnings(lambda: torch.empty(4, dtype=dtype))


def without_warnings(make: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `make`. torch warns of prototypes and deprecations, and warnings are errors here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(*arguments)


def _class(name: str, base: Any, **members: Any) -> Any:
    return type(name, (base,), members)


Plain = _class("Plain", torch.Tensor)


def _non_leaf() -> Any:
    return torch.ones(3, requires_grad=True) * 2


def _inference() -> Any:
    with torch.inference_mode():
        return torch.arange(6.0).reshape(2, 3)


def _base() -> Any:
    return torch.arange(24.0).reshape(2, 3, 4)


DESCRIBABLE: dict[str, Callable[[], Any]] = {
    "tensor": _base,
    "parameter": lambda: torch.nn.Parameter(torch.arange(6.0)),
    "parameter_without_grad": lambda: torch.nn.Parameter(torch.arange(6.0), requires_grad=False),
    "buffer": lambda: (torch.nn.Buffer if hasattr(torch.nn, "Buffer") else torch.Tensor)(torch.arange(6.0)),
    "plain_subclass": lambda: _base().as_subclass(Plain),
    "parameter_of_a_plain_subclass": lambda: torch.nn.Parameter(torch.arange(6.0).as_subclass(Plain)),
    "requires_grad": lambda: torch.arange(6.0).requires_grad_(),
    "non_leaf": _non_leaf,
    "detached": lambda: _non_leaf().detach(),
    "inference": _inference,
    "zero_dim": lambda: torch.tensor(7.0),
    "zero_dim_view": lambda: torch.arange(6.0)[4],
    "one_element": lambda: torch.ones(1, 1, 1),
    "offset_view": lambda: torch.arange(24.0)[5:9],
    "strided_view": lambda: _base()[:, 1:, ::2],
    "transposed": lambda: _base().transpose(0, 2),
    "expanded": lambda: torch.arange(3.0).expand(4, 3),
    "channels_last": lambda: torch.arange(120.0).reshape(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
    "diagonal": lambda: torch.arange(16.0).reshape(4, 4).diagonal(),
    "overlapping": lambda: torch.arange(6.0).as_strided((3, 3), (1, 1)),
    "five_dims": lambda: torch.arange(32.0).reshape(2, 2, 2, 2, 2),
    "six_dims": lambda: torch.arange(64.0).reshape(2, 2, 2, 2, 2, 2),
    "twelve_dims": lambda: torch.arange(2.0).reshape(*[1] * 11, 2).transpose(0, 11),
    "conjugated_twice": lambda: torch.ones(2, dtype=torch.complex64).conj().conj(),
    "conjugate_resolved": lambda: torch.tensor([1 - 1j, 2 + 3j]).conj().resolve_conj(),
    "uninitialized_parameter": lambda: torch.nn.UninitializedParameter(),
    "copy_on_write": lambda: torch._lazy_clone(_base()),
    "from_numpy_like_memory": lambda: torch.frombuffer(bytearray(16), dtype=torch.float32),
}
EMPTY: dict[str, Callable[[], Any]] = {
    "empty": lambda: torch.empty(0),
    "empty_rows": lambda: torch.empty(0, 3),
    "empty_in_the_middle": lambda: torch.empty(2, 0, 3),
    "empty_view": lambda: torch.arange(6.0)[3:3],
    "empty_six_dims": lambda: torch.empty(1, 2, 0, 1, 1, 1),
}


def _freed() -> Any:
    tensor = torch.ones(4)
    tensor.untyped_storage().resize_(0)
    return tensor


def _torch_dispatch(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    raise NotImplementedError("no test computes with this tensor")


def _wrapper(**members: Any) -> Any:
    inner = torch.ones(3)
    cls = _class("Wrapper", torch.Tensor, __torch_dispatch__=classmethod(_torch_dispatch), **members)
    return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)


def _fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(3)


def _jagged() -> Any:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)


def _sparse(convert: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: convert(torch.eye(4))


REFUSED: dict[str, Callable[[], Any]] = {
    "conjugate": lambda: torch.tensor([1 - 1j]).conj(),
    "conjugate_transposed": lambda: torch.ones(2, 2, dtype=torch.complex64).mH,
    "negative": lambda: torch._neg_view(torch.ones(3)),
    "imaginary_of_conjugate": lambda: torch.tensor([1 - 1j]).conj().imag,
    "sparse_coo": _sparse(lambda t: t.to_sparse()),
    "sparse_csr": _sparse(lambda t: t.to_sparse_csr()),
    "sparse_csc": _sparse(lambda t: t.to_sparse_csc()),
    "sparse_bsr": _sparse(lambda t: t.to_sparse_bsr((2, 2))),
    "sparse_bsc": _sparse(lambda t: t.to_sparse_bsc((2, 2))),
    "quantized_per_tensor": lambda: torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8),
    "quantized_per_channel": lambda: torch.quantize_per_channel(
        torch.ones(2, 2), torch.tensor([0.5, 1.0]), torch.tensor([0, 0]), 0, torch.qint8
    ),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "nested_jagged": _jagged,
    "meta": lambda: torch.empty(3, device="meta"),
    "meta_zero_dim": lambda: torch.empty((), device="meta"),
    "zero_tensor": lambda: torch._efficientzerotensor(3),
    "fake": _fake,
    "functional": lambda: torch._to_functional_tensor(torch.ones(3)),
    "wrapper": lambda: _wrapper(),
    "wrapper_without_torch_function": lambda: _wrapper(__torch_function__=torch._C._disabled_torch_function_impl),
    "parameter_of_a_fake": lambda: torch.nn.Parameter(_fake()),
    "freed_storage": _freed,
    "mkldnn": lambda: torch.ones(3).to_mkldnn(),
}


def use_count(tensor: Any) -> int:
    """torch's reference count of the tensor, plus 1000 times that of its storage, if it has one.

    torch 2.4 for the CPU has no function for the storage's count, so it is read from memory, behind the vtable.
    """
    with torch._C.DisableTorchFunctionSubclass():  # an uninitialised parameter would raise
        count = int(tensor._use_count())
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):
            return count
        of_storage = getattr(torch._C, "_storage_Use_Count", lambda data: ctypes.c_uint32.from_address(data + 8).value)
        return count + 1000 * int(of_storage(storage._cdata))


class NotATensor:
    """Its `__class__` is torch.Tensor, and its type is not."""

    @property
    def __class__(self) -> Any:
        return torch.Tensor

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise AttributeError


NOT_TENSORS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "int": lambda: 3,
    "list_of_tensors": lambda: [torch.ones(1)],
    "bytearray": lambda: bytearray(8),
    "dtype": lambda: torch.float32,
    "storage": lambda: torch.ones(1).untyped_storage(),
    "liar_about_its_class": NotATensor,
    "the_tensor_class": lambda: torch.Tensor,
    "a_subclass": lambda: Plain,
    "the_parameter_class": lambda: torch.nn.Parameter,
    "capsule": lambda: torch.utils.dlpack.to_dlpack(torch.ones(1)),
}
