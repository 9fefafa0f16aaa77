"""What torch.Tensor may have where a table belongs: only a table is read, and nothing crashes or raises."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import dlx_torch_ext as dlx
import pytest
from dlx_torch_ext import _capsule, _facts
from dlx_torch_ext._cli import report
from dlx_torch_ext._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE, function_addresses

from tests.snippets import capsules
from tests.support.left_out import left_out_if
from tests.support.no_tables import NO_TABLES, USELESS_TABLES, capsule, table
from tests.support.process import fork, spawn

ALL = {**NO_TABLES, **USELESS_TABLES}
ATTRIBUTES = pytest.mark.parametrize("attribute", [CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE])


@pytest.mark.parametrize("kind", NO_TABLES)
def test_what_is_no_table_has_no_address(kind: str) -> None:
    assert fork.call(lambda: _capsule.table_address(NO_TABLES[kind]())) == 0


@pytest.mark.parametrize("kind", USELESS_TABLES)
def test_a_table_has_its_address(kind: str) -> None:
    assert _capsule.table_address(USELESS_TABLES[kind]()) != 0


def test_the_address_is_that_of_the_table() -> None:
    address = table()
    assert _capsule.table_address(address) == _capsule.table_address(capsule(address)) == address


@pytest.mark.parametrize("kind", ALL)
@ATTRIBUTES
def test_nothing_crashes_or_raises(attribute: str, kind: str, torch: Any) -> None:
    def look() -> list[Any]:
        setattr(torch.Tensor, attribute, ALL[kind]())
        table = _facts.read(torch).table
        seen = [table is not None and table.provider, dlx.status().provider, dlx.attach().provider]
        dlx.attach(prefer="dlx")
        report.collect()
        dlx.detach()
        return seen

    assert fork.call(look) == ["foreign"] * 3


@ATTRIBUTES
def test_an_attribute_that_raises_counts_as_none(attribute: str, torch: Any) -> None:
    class Raises:
        def __get__(self, *_: object) -> Any:
            raise LookupError("asked")

    setattr(torch.Tensor, attribute, Raises())
    assert _facts.read(torch).table is None
    assert dlx.status().provider == "none"
    assert dlx.attach().provider == "dlx"
    dlx.detach()


def test_functions_of_another_major_version_are_unknown() -> None:
    assert set(function_addresses(table(2, 0xDEADBEEF000)).values()) == {0}
    assert set(function_addresses(table(1, 0xDEADBEEF000)).values()) == {0xDEADBEEF000}


def test_an_integer_is_not_looked_at_beside_a_capsule(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise AssertionError("memory was read")

    monkeypatch.setattr(_capsule, "_read_memory", fail)
    setattr(torch.Tensor, CAPSULE_ATTRIBUTE, capsule(table()))
    setattr(torch.Tensor, LEGACY_ATTRIBUTE, 0xDEADBEEF000)
    found = _facts.read(torch).table
    assert found is not None
    assert found.address != 0


@left_out_if(sys.platform == "win32", "Windows has no write() that refuses an address")
class TestMemory:
    def test_what_can_be_read(self) -> None:
        text = ctypes.create_string_buffer(b"twelve bytes")
        assert _capsule._read_memory(ctypes.addressof(text), 12) == b"twelve bytes"

    def test_no_file_stays_open(self) -> None:
        before = os.listdir("/dev/fd")
        for address in (table(), 0xDEADBEEF000):
            _capsule._read_memory(address, 56)
        assert os.listdir("/dev/fd") == before

    def test_without_files_to_open_nothing_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_pipe() -> tuple[int, int]:
            raise OSError("too many open files")

        address = table()
        monkeypatch.setattr(os, "pipe", no_pipe)
        assert _capsule.table_address(address) == 0


def test_where_the_system_cannot_tell_an_integer_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    address = table()
    monkeypatch.setattr(sys, "platform", "win32")
    assert _capsule.table_address(address) == 0
    assert _capsule.table_address(capsule(address)) == address


def test_the_name_of_a_capsule_outlives_the_module() -> None:
    """With an allocator that overwrites what is freed."""
    assert spawn.call(capsules.valid_without_the_module, env={"PYTHONMALLOC": "debug"})


def test_it_imports_whatever_others_have_set_on_ctypes() -> None:
    assert spawn.call(capsules.importable_beside_other_argtypes) == "imported"
