"""Tensors that hypothesis makes: views of a storage, and what wraps them; and what torch itself says of a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import torch
from hypothesis import strategies as st

from tests.support.tensors import DTYPES, REFUSED, Plain, without_warnings

Draw = Callable[[Any], Any]


@st.composite
def tensors(draw: Draw) -> Any:
    """Any tensor: mostly views of a storage, and sometimes one of a kind that has no plain memory."""
    if draw(st.integers(0, 9)) == 0:
        return without_warnings(REFUSED[draw(st.sampled_from(sorted(REFUSED)))])
    tensor = _base(draw)
    for _ in range(draw(st.integers(0, 4))):
        tensor = _view(draw, tensor)
    tensor = _wrapped(draw, tensor)
    if draw(st.integers(0, 7)) == 0:
        _resize_storage(draw, tensor)
    return tensor


def _base(draw: Draw) -> Any:
    dtype = getattr(torch, draw(st.sampled_from(sorted(DTYPES))))
    shape = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 4]), max_size=8))
    return without_warnings(lambda: torch.empty(shape, dtype=dtype))


def _view(draw: Draw, tensor: Any) -> Any:
    of_any, of_dims = [_as_strided, _unsqueeze, _conjugate, _negative], [_slice, _permute, _select, _expand]
    return draw(st.sampled_from([*of_any, *(of_dims if tensor.dim() else [])]))(draw, tensor)


def _slice(draw: Draw, tensor: Any) -> Any:
    dim = draw(st.integers(0, tensor.dim() - 1))
    start, step = draw(st.integers(0, tensor.shape[dim])), draw(st.integers(1, 3))
    return tensor[(slice(None),) * dim + (slice(start, None, step),)]


def _permute(draw: Draw, tensor: Any) -> Any:
    return tensor.permute(draw(st.permutations(range(tensor.dim()))))


def _select(draw: Draw, tensor: Any) -> Any:
    dim = draw(st.integers(0, tensor.dim() - 1))
    return tensor.select(dim, draw(st.integers(0, tensor.shape[dim] - 1))) if tensor.shape[dim] else tensor


def _expand(draw: Draw, tensor: Any) -> Any:
    """One dimension, so that the number of elements fits in 63 bits after four of them."""
    dim, size = draw(st.integers(0, tensor.dim() - 1)), draw(st.sampled_from([2, 7, 2**11]))
    if tensor.shape[dim] != 1:
        return tensor
    return tensor.expand([size if i == dim else -1 for i in range(tensor.dim())])


def _unsqueeze(draw: Draw, tensor: Any) -> Any:
    return tensor.unsqueeze(draw(st.integers(0, tensor.dim())))


def _as_strided(draw: Draw, tensor: Any) -> Any:
    """torch itself refuses a layout that leaves the storage, but not every release does for each."""
    sizes = draw(st.lists(st.integers(0, 3), max_size=4))
    strides = [draw(st.sampled_from([0, 1, 1, 2, 3, 8])) for _ in sizes]
    try:
        return tensor.as_strided(sizes, strides, draw(st.integers(0, 4)))
    except RuntimeError:
        return tensor


def _conjugate(draw: Draw, tensor: Any) -> Any:
    return tensor.conj() if tensor.dtype in (torch.complex64, torch.complex128) else tensor


def _negative(draw: Draw, tensor: Any) -> Any:
    return torch._neg_view(tensor) if tensor.dtype in (torch.float32, torch.float64) else tensor


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "none": lambda tensor: tensor,
    "subclass": lambda tensor: tensor.as_subclass(Plain),
    "parameter": lambda tensor: torch.nn.Parameter(tensor, requires_grad=False),
    "parameter_with_grad": lambda tensor: torch.nn.Parameter(tensor) if _has_grad(tensor) else tensor,
    "requires_grad": lambda tensor: tensor.requires_grad_() if _has_grad(tensor) else tensor,
    "alias": lambda tensor: tensor.view_as(tensor),
    "detached": lambda tensor: tensor.detach(),
    "copy_on_write": torch._lazy_clone,
}


def _has_grad(tensor: Any) -> bool:
    return bool((tensor.is_floating_point() or tensor.is_complex()) and tensor.is_leaf)


def _wrapped(draw: Draw, tensor: Any) -> Any:
    return WRAPPERS[draw(st.sampled_from(sorted(WRAPPERS)))](tensor)


def _resize_storage(draw: Draw, tensor: Any) -> None:
    """Not of a copy-on-write tensor: torch 2.13 then fails in an assertion of its own when the memory is asked for."""
    if torch._C._is_cow_tensor(tensor):
        return
    storage = tensor.untyped_storage()
    storage.resize_(max(0, storage.nbytes() + draw(st.sampled_from([-(2**20), -16, -1, 0, 1, 64]))))


@dataclass(frozen=True)
class Seen:
    """What torch says of a tensor, through functions that have nothing to do with DLPack."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    address: int


def seen_by_torch(tensor: Any) -> Seen | None:
    """None for a tensor whose memory is not what its sizes and strides say, or that reaches past its storage."""
    with torch._C.DisableTorchFunctionSubclass():
        if not _is_plain(tensor) or not _is_within_storage(tensor):
            return None
        dtype = str(tensor.dtype).rpartition(".")[2]
        return Seen(tuple(tensor.shape), tensor.stride(), dtype, tensor.data_ptr() if tensor.numel() else 0)


def _is_plain(tensor: Any) -> bool:
    dispatch = getattr(type(tensor), "__torch_dispatch__", torch._C._disabled_torch_dispatch_impl)
    strange = tensor.is_conj() or tensor.is_neg() or tensor.is_quantized or tensor.is_nested or tensor.is_meta
    strange = strange or tensor.layout is not torch.strided or tensor._is_zerotensor()
    strange = strange or torch._is_functional_tensor(tensor)
    return not strange and dispatch is torch._C._disabled_torch_dispatch_impl


def _is_within_storage(tensor: Any) -> bool:
    if tensor.numel() == 0:
        return True
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    end = (tensor.storage_offset() + last + 1) * tensor.element_size()
    return bool(end <= tensor.untyped_storage().nbytes())
