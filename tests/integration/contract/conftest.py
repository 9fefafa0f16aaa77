"""The contract is tested on our table only: if torch has one of its own, with `--table dlx` or another name."""

from __future__ import annotations

import os

import pytest

from tests.support.left_out import left_out_if
from tests.support.this_torch import HAS_OWN_TABLE, NAME


def pytest_itemcollected(item: pytest.Item) -> None:
    # Not when this module is imported: the environment of `--table` is set later.
    own_table_stays = HAS_OWN_TABLE and "DLX_TEST_TABLE" not in os.environ
    item.add_marker(left_out_if(own_table_stays, f"{NAME} has a table of its own; --table dlx tests ours"))
