"""Tables with one fault each: the functions of broken_table.c around those of a right table."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from tests.support.compiled import library

# What is wrong with a description, and what the self-test says of it.
_DESCRIPTIONS = {
    "data": "data of ",
    "no data": "data of ",
    "byte_offset": "data of ",
    "device type": ": DLPack device type 2:0, expected cpu:0",
    "device index": ": cpu:1, expected cpu:0",
    "code": ": int32, expected float32",
    "unknown code": ": DLPack dtype code 99, bits 32, expected float32",
    "bits": ": float64, expected float32",
    "lanes": ": float32 x 0 lanes, expected float32",
    "ndim": "ndim of an imported and exported tensor: 1, expected 2",
    "negative ndim": "ndim of an imported and exported tensor: -1, expected 2",
    "huge ndim": "ndim of an imported and exported tensor: 512, expected 2",
    "shape": ": (2, 4), expected (2, 3)",
    "no shape": ": None, expected (2, 3)",
    "strides": ": (12, 3), expected (12, 2)",
    "no strides": ": None, expected (12, 2)",
}
_TOO_EARLY = "calls of the deleter while a view is alive: 1, expected 0"
_TOO_LATE = "calls of the deleter after the last view: 0, expected 1"
_NAMES = {
    "export": "dltensor_from_py_object_no_sync",
    "export_managed": "managed_tensor_from_py_object_no_sync",
    "import": "managed_tensor_to_py_object_no_sync",
    "stream": "current_work_stream",
}


def _returns(name: str) -> dict[str, str]:
    """What any function can return wrongly."""
    return {
        "silent failure": f"{name} returned -1 without an exception, expected 0",
        "silent 1": f"{name} returned 1 without an exception, expected 0",
        "exception": "RuntimeError: no",
        "exception and 0": "RuntimeError: no",
        "missing": f"the table has no {name}",
    }


# By the function that is broken: its faults, and the words of the self-test.
_FAULTS: dict[str, dict[str, str]] = {
    "export": {**_DESCRIPTIONS, "nothing": "data of ", "leak": _TOO_LATE, "dropped reference": _TOO_EARLY},
    "export_managed": {
        **_DESCRIPTIONS,
        "nothing": "returned 0, but no tensor",
        "version": "major version of an exported tensor: 2, expected 1",
        "leak": _TOO_LATE,
        "dropped reference": _TOO_EARLY,
        "owns nothing": "calls of the deleter while an export is alive: 1, expected 0",
        "no deleter": _TOO_LATE,
        "deleter does nothing": _TOO_LATE,
        "deleter drops tensor": _TOO_EARLY,
        "deleter raises": "RuntimeError: no",
    },
    "import": {
        "nothing": "returned 0, but no tensor",
        "another type": "type of an imported tensor: <class 'list'>, expected",
        "copy": "data of an imported and exported tensor",
        "data": "data of an imported and exported tensor",
        "shape": ": (2, 4), expected (2, 3)",
        "strides": ": (12, 3), expected (12, 2)",
        "leak": _TOO_LATE,
        "deleter runs twice": "calls of the deleter after the last view: 2, expected 1",
        "deleter never runs": _TOO_LATE,
        "deleter runs late": _TOO_LATE,
        "deleter runs at once": _TOO_EARLY,
        "deleter gets wrong address": "the address that the deleter got",
    },
    "stream": {"nothing": "the stream of a CPU: 1, expected None", "a stream": "the stream of a CPU"},
    "refusal": {
        "nothing": "an object that is not a tensor it returned 0 without an exception",
        "silent failure": "an object that is not a tensor it returned -1 without an exception",
        "exception": "<class 'RuntimeError'>, expected <class 'TypeError'>",
    },
    "allocate": {"missing": "the table has no managed_tensor_allocator"},
    "table": {"version": "the major version of the table: 2, expected 1"},
}
FAULTS = {
    f"{place}: {fault}": words
    for place, faults in _FAULTS.items()
    for fault, words in {**(_returns(_NAMES[place]) if place in _NAMES else {}), **faults}.items()
}


def broken_table(right: int, fault: str) -> int:
    """The address of a table that has one of FAULTS and calls the table at address `right`. It is valid until the next
    call. With the fault "" it has none."""
    place, _, name = fault.partition(": ")
    return int(_library().broken_table(ctypes.c_void_p(right), place.encode(), name.encode()))


@functools.cache
def _library() -> ctypes.PyDLL:
    bound = ctypes.PyDLL(str(library(Path(__file__).with_name("broken_table.c"))))
    bound.broken_table.restype = ctypes.c_void_p
    return bound
