"""What the texts of refusals say, word for word: what was asked, what is here, and who has to do what."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.foreign_tensors import ForeignTensor, prototype
from tests.support.left_out import cases
from tests.support.structs import (
    ASCEND,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    EXT_DEV,
    HEXAGON,
    MAIA,
    METAL,
    ONE_API,
    OPENCL,
    ROCM,
    ROCM_HOST,
    TPU,
    TPU_HOST,
    TRN,
    VPI,
    VULKAN,
    WEB_GPU,
)
from tests.support.table import assert_refuses, table_under_test
from tests.support.tensors import REFUSED, without_warnings
from tests.support.this_torch import LINE, NAME

pytestmark = pytest.mark.isolated

NO_MKLDNN = (not torch.backends.mkldnn.is_available(), "torch is built without mkldnn")
BACKEND = "cuda" if torch.version.cuda else "cpu"
OWN_DEVICE = "kDLCUDA" if torch.version.cuda else "kDLCPU"

IMPORTED: dict[str, tuple[type[BaseException], dict[str, Any], str]] = {
    "version": (
        BufferError,
        {"version": (2, 7)},
        "the managed tensor is of DLPack version 2.7, and this library reads version 1: ask its producer for that one",
    ),
    "padded": (
        BufferError,
        {"dtype": (17, 4, 2), "flags": 4},
        "the managed tensor has elements of 4 bits padded to a byte each, and torch packs them: its producer has to"
        " pack them",
    ),
    "dtype": (
        BufferError,
        {"dtype": (15, 6, 1)},
        "cannot make a torch.Tensor of dtype float6_e2m3fn, which this torch does not have: convert"
        " it before the export",
    ),
    "lanes": (
        BufferError,
        {"dtype": (2, 32, 4)},
        "cannot make a torch.Tensor of dtype float32x4, which this torch does not have: convert it before the export",
    ),
    "dtype_code": (
        BufferError,
        {"dtype": (99, 12, 3)},
        "cannot make a torch.Tensor of dtype code 99 of 12 bits and 3 lanes, which this torch does not have: convert it"
        " before the export",
    ),
    "dtype_bits": (
        BufferError,
        {"dtype": (10, 16, 1)},
        "cannot make a torch.Tensor of dtype float8_e4m3fn of 16 bits, which this torch does not have: convert it"
        " before the export",
    ),
    "device": (
        BufferError,
        {"device": (VULKAN, 0)},
        f"this torch's {BACKEND} build has no tensors on device type kDLVulkan (7): copy the data to"
        f" {OWN_DEVICE} first",
    ),
    "ndim": (
        ValueError,
        {"ndim": -1},
        "the managed tensor has ndim = -1, which is negative: its producer has to correct it",
    ),
    "shape": (
        ValueError,
        {"shape": (2, -3)},
        "the managed tensor has shape[1] = -3, which is negative: its producer has to correct it",
    ),
    "no_shape": (
        ValueError,
        {"shape": None, "ndim": 2},
        "the managed tensor has shape = NULL and ndim = 2: its producer has to correct it",
    ),
    "strides": (
        ValueError,
        {"strides": (-3, 1)},
        "the managed tensor has strides[0] = -3, which is negative: its producer has to correct it",
    ),
    "elements": (
        ValueError,
        {"shape": (2**62, 4)},
        "the managed tensor has more elements than fit in 63 bits: its producer has to correct it",
    ),
    "bytes": (
        ValueError,
        {"shape": (2**61,)},
        "the managed tensor has more bytes than fit in 63 bits: its producer has to correct it",
    ),
    "distance": (
        ValueError,
        {"shape": (5,), "strides": (2**62,)},
        "the managed tensor has strides whose last element lies further away than fits in 63 bits: its producer has to"
        " correct it",
    ),
    "no_data": (
        ValueError,
        {"data": None},
        "the managed tensor has data = NULL and 6 elements: its producer has to correct it",
    ),
    "address": (
        ValueError,
        {"byte_offset": 2**64 - 4},
        "the managed tensor has data, byte_offset and shape that reach past the end of the address space: its"
        " producer has to correct it",
    ),
}


NO_PACKED_FLOATS = (LINE < (2, 8), f"{NAME} has no dtype of 4 bits")


@pytest.mark.parametrize("name", cases(IMPORTED, {"padded": NO_PACKED_FLOATS}))
def test_to_a_tensor(name: str) -> None:
    kind, described, text = IMPORTED[name]
    foreign = ForeignTensor(**described)
    assert assert_refuses(kind, lambda: table_under_test().to_torch(foreign.address)) == f"dlx-torch: {text}"


def test_null_to_a_tensor() -> None:
    text = "dlx-torch: cannot make a torch.Tensor of NULL: pass a DLManagedTensorVersioned"
    assert assert_refuses(ValueError, lambda: table_under_test().to_torch(0)) == text


ALLOCATED: dict[str, tuple[type[BaseException], dict[str, Any], str]] = {
    "dtype": (
        BufferError,
        {"dtype": (0, 4, 1)},
        "cannot allocate a tensor of dtype int4, which this torch does not have: ask for another dtype",
    ),
    "ndim": (ValueError, {"ndim": -1}, "the prototype has ndim = -1, which is negative: the caller has to correct it"),
    "shape": (
        ValueError,
        {"shape": (-1,)},
        "the prototype has shape[0] = -1, which is negative: the caller has to correct it",
    ),
    "device": (
        BufferError,
        {"device": (CUDA_HOST, 0)},
        "torch's allocator has no kDLCUDAHost memory: allocate on kDLCPU"
        + (" or kDLCUDA" if torch.version.cuda else ""),
    ),
}


@pytest.mark.parametrize("name", ALLOCATED)
def test_allocate(name: str) -> None:
    kind, described, text = ALLOCATED[name]
    described = {"shape": (2,), **described}
    assert assert_refuses(kind, lambda: table_under_test().allocate(prototype(**described))) == f"dlx-torch: {text}"


def test_from_something_else() -> None:
    for thing, name in ((3, "int"), (torch, "module"), (torch.Tensor, "_TensorMeta")):
        text = f"dlx-torch: cannot export a {name}: pass a torch.Tensor"
        assert assert_refuses(TypeError, lambda thing=thing: table_under_test().dltensor(thing)) == text


# The name of a class, and what is left of it in an error.
NAMES = {
    "plain": ("Plain", "Plain"),
    "other_letters": ("Größe_大小_😀", "Größe_大小_😀"),
    "end_of_line": ("first\nsecond", "first"),
    "carriage_return": ("first\rsecond", "first"),
    "tab": ("one\ttwo", "one two"),
    "control_characters": ("bell\x07escape\x1bdelete\x7f", "bell?escape?delete?"),
    "next_line": ("one\x85two", "one?two"),
    "separators": ("one\u2028two\u2029three", "one?two?three"),
    "beside_the_separators": ("\u2027\u202a\x84\x86\u2828", "\u2027\u202a\x84\x86\u2828"),
    "ends_like_the_separators": ("\u1028\u1029\u3028\u3029\u2068\u2128\xc5\u0145\U00040a28",) * 2,
    "smallest_and_largest": ("\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",) * 2,
    "long": ("n" * 101, "n" * 100),
    "cut_in_a_character_of_two_bytes": ("n" * 99 + "é", "n" * 99 + "?"),
    "cut_in_a_character_of_three_bytes": ("n" * 98 + "大", "n" * 98 + "??"),
    "cut_in_a_character_of_four_bytes": ("n" * 97 + "😀", "n" * 97 + "???"),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_become_one_line_of_whole_characters(case: str) -> None:
    name, left = NAMES[case]
    thing = type(name, (), {})()
    text, expected = "", f"dlx-torch: cannot export a {left}"
    try:
        table_under_test().dltensor(thing)
    except TypeError as error:
        text = str(error)
    ends = "\n" in name or "\r" in name  # the line ends there, and the text with it
    assert text == expected + ("" if ends else ": pass a torch.Tensor")


def _no_name(_: Any) -> str:
    raise AttributeError("no name")


@pytest.mark.parametrize("name", [lambda _: 5, lambda _: "\ud800", _no_name], ids=["a_number", "a_surrogate", "none"])
def test_a_class_whose_name_is_no_text(name: Callable[[Any], object]) -> None:
    thing = type("Meta", (type,), {"__name__": property(name)})("Named", (), {})()
    text = "dlx-torch: cannot export a Python object: pass a torch.Tensor"
    assert assert_refuses(TypeError, lambda: table_under_test().dltensor(thing)) == text


DENSE = "export its indices and values, or call to_dense() first"
CONJUGATE = "a tensor with the conjugate bit: call resolve_conj() first"
NEGATIVE = "a tensor with the negative bit: call resolve_neg() first"
STANDS_FOR = "a fake, wrapper or other __torch_dispatch__ tensor: export the tensor that it stands for"
META = "a meta tensor, which has no memory: create it on a device"
EXPORTED = {
    "conjugate": CONJUGATE,
    "conjugate_transposed": CONJUGATE,
    "negative": NEGATIVE,
    "imaginary_of_conjugate": NEGATIVE,
    "sparse_coo": f"a sparse tensor: {DENSE}",
    **{f"sparse_{name}": f"a sparse compressed tensor: {DENSE}" for name in ("csr", "csc", "bsr", "bsc")},
    "quantized_per_tensor": "a quantised tensor: export its int_repr()",
    "quantized_per_channel": "a quantised tensor: export its int_repr()",
    "nested": "a nested tensor: export its values()",
    "nested_jagged": "a nested tensor: export its values()",
    "meta": META,
    "meta_zero_dim": META,
    "zero_tensor": "a zero tensor, which has no memory: call clone() first",
    "functional": "a functional tensor: call the kernel outside functionalize",
    **dict.fromkeys(["fake", "wrapper", "wrapper_without_torch_function", "parameter_of_a_fake"], STANDS_FOR),
    "freed_storage": "a tensor of 4 elements whose memory is not allocated: resize its storage first",
    "mkldnn": "an mkldnn tensor: call to_dense() first",
}


@pytest.mark.parametrize("kind", cases(REFUSED, {"mkldnn": NO_MKLDNN}))
def test_from_a_tensor(kind: str) -> None:
    tensor = without_warnings(REFUSED[kind])
    text = f"dlx-torch: cannot export {EXPORTED[kind]}"
    assert assert_refuses(BufferError, lambda: table_under_test().dltensor(tensor)) == text


def test_from_a_tensor_of_a_transform() -> None:
    texts: list[str] = []

    def inside(x: Any) -> Any:
        texts.append(assert_refuses(BufferError, lambda: table_under_test().dltensor(x)))
        return x.sum()

    torch.func.vmap(inside)(torch.ones(2, 3))
    torch.func.grad(inside)(torch.ones(3))
    remedy = "call the kernel outside the transform"
    assert texts == [
        f"dlx-torch: cannot export a tensor inside torch.vmap: {remedy}",
        f"dlx-torch: cannot export a tensor inside a torch.func transform: {remedy}",
    ]


def test_from_a_dtype_without_a_name() -> None:
    text = "dlx-torch: cannot export a tensor of dtype Bits8: DLPack has no name for it, convert it first"
    tensor = torch.ones(2, dtype=torch.uint8).view(torch.bits8)
    assert assert_refuses(BufferError, lambda: table_under_test().dltensor(tensor)) == text


def test_from_an_object_that_holds_no_tensor() -> None:
    """As torch leaves one whose memory it has given to another object."""
    table, tensor = table_under_test(), torch.ones(2)
    slot = ctypes.c_void_p.from_address(id(tensor) + object.__basicsize__ + (8 if LINE < (2, 10) else 0))
    kept, slot.value = slot.value, None
    text = (
        "dlx-torch: cannot export an object of class torch.Tensor that holds no tensor: make it with torch's functions"
    )
    gc.disable()  # it would look into the tensor
    try:
        assert assert_refuses(BufferError, lambda: table.dltensor(tensor)) == text
    finally:
        slot.value = kept
        gc.enable()


DEVICES = {
    OPENCL: "kDLOpenCL",
    VULKAN: "kDLVulkan",
    VPI: "kDLVPI",
    ROCM: "kDLROCM",
    EXT_DEV: "kDLExtDev",
    ONE_API: "kDLOneAPI",
    WEB_GPU: "kDLWebGPU",
    HEXAGON: "kDLHexagon",
    MAIA: "kDLMAIA",
    TRN: "kDLTrn",
    TPU: "kDLTPU",
    TPU_HOST: "kDLTPUHost",
    ASCEND: "kDLAscend",
    0: "unknown",
    99: "unknown",
    -1: "unknown",
}


@pytest.mark.parametrize("device", DEVICES)
def test_the_stream_of_another_device(device: int) -> None:
    text = (
        f"dlx-torch: cannot tell the stream of device type {DEVICES[device]} ({device}): this library is for torch's"
        f" {BACKEND} build, `dlx-torch doctor` says more"
    )
    assert assert_refuses(RuntimeError, lambda: table_under_test().stream(device, 0)) == text


# Those that are host memory or a build's own. Their managed tensor of ours lies on the CPU.
OWN_DEVICES = {CUDA: "kDLCUDA", CUDA_MANAGED: "kDLCUDAManaged", METAL: "kDLMetal"}


@pytest.mark.parametrize("device", OWN_DEVICES)
def test_a_managed_tensor_of_ours_on_another_device(device: int) -> None:
    made = table_under_test().export(torch.ones(2))
    made.tensor.device.device_type, made.tensor.device.device_id = device, 3
    text = (
        f"dlx-torch: the managed tensor names 8 bytes on {OWN_DEVICES[device]}:3 that do not lie in the 8 bytes of"
        " torch's storage that it came from: the library that changed it has to correct it"
    )
    assert assert_refuses(ValueError, lambda: table_under_test().to_torch(made.address)) == text
    made.delete()


HOST_MEMORY = {CUDA_HOST: "kDLCUDAHost", ROCM_HOST: "kDLROCMHost"}


@pytest.mark.parametrize("device", HOST_MEMORY)
def test_memory_of_another_allocator(device: int) -> None:
    text = f"dlx-torch: torch's allocator has no {HOST_MEMORY[device]} memory: allocate on kDLCPU"
    text += " or kDLCUDA" if torch.version.cuda else ""
    assert assert_refuses(BufferError, lambda: table_under_test().allocate(prototype((2,), device=(device, 0)))) == text
