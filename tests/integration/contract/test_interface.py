"""What a library exports beside its table, asked again or for something else."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import dlx_torch_ext
import pytest

from tests.support.structs import DLPackExchangeAPI
from tests.support.table import table_under_test

pytestmark = pytest.mark.isolated

SIZE = object.__basicsize__


def exchange_api(size: int) -> int | None:
    """What the library that is attached answers; NULL is None."""
    library = ctypes.CDLL(dlx_torch_ext.status().library or "")
    library.dlx_torch_exchange_api.restype = ctypes.c_void_p
    address: int | None = library.dlx_torch_exchange_api(ctypes.c_uint32(size))
    return address


def test_the_table_is_the_same_each_time() -> None:
    assert table_under_test().address == exchange_api(SIZE) == exchange_api(SIZE)


@pytest.mark.parametrize("size", [0, 8, 15, SIZE + 8, 2 * SIZE, 264, 2**32 - 1])
def test_no_table_for_another_size_of_pyobject(size: int) -> None:
    """The table that is in use would read memory at the wrong places."""
    table = table_under_test()
    assert exchange_api(size) is None
    assert exchange_api(SIZE) == table.address


def test_a_size_that_no_pyobject_has_is_refused_by_a_library_that_was_not_asked_before(tmp_path: Path) -> None:
    copy = ctypes.CDLL(str(shutil.copy(dlx_torch_ext.status().library or "", tmp_path)))
    ask = copy.dlx_torch_exchange_api
    ask.restype, ask.argtypes = ctypes.c_void_p, [ctypes.c_uint32]
    assert [ask(size) for size in (0, 8, 15, 17, 264, 2**32 - 8, 2**32 - 1)] == [None] * 7
    assert ask(SIZE) is not None


def test_the_overlay_is_made_once() -> None:
    """A consumer may be reading it."""
    package = Path(dlx_torch_ext.__file__).parent
    library = ctypes.CDLL(str(package / "_lib" / "overlay" / "libdlx_torch_torch_npu.so"))
    overlay = library.dlx_torch_overlay
    overlay.restype, overlay.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    upstream = DLPackExchangeAPI.from_buffer_copy(table_under_test().raw)
    other = DLPackExchangeAPI.from_buffer_copy(upstream)
    assert overlay(None) is None
    made = overlay(ctypes.addressof(upstream))
    assert made is not None
    before = bytes(DLPackExchangeAPI.from_address(made))
    assert overlay(ctypes.addressof(other)) is None
    assert overlay(ctypes.addressof(upstream)) == made
    assert bytes(DLPackExchangeAPI.from_address(made)) == before
