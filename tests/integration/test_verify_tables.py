"""Which tables `dlx-torch verify` compares where torch has its own: that one and ours, which is not attached for it."""

from __future__ import annotations

from tests.snippets import verify as snippets
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import HAS_OWN_TABLE, HAS_TORCH_NPU, NAME
from tests.support.verified import NO_SETTINGS

pytestmark = [
    left_out_if(not HAS_OWN_TABLE, f"{NAME} has no table of its own"),
    left_out_if(HAS_TORCH_NPU, "torch_npu is installed, and an overlay is in use"),
]


def test_torchs_own_table_is_in_use_and_ours_is_beside_it() -> None:
    assert spawn.call(snippets.tables_here, "upstream", env=NO_SETTINGS) == {
        "tables": [["upstream", True], ["dlx", True]],
        "different": True,
        "attached": "upstream",
    }


def test_ours_is_in_use_and_torchs_own_does_not_count() -> None:
    assert spawn.call(snippets.tables_here, "dlx", env=NO_SETTINGS) == {
        "tables": [["dlx", True], ["upstream", False]],
        "different": True,
        "attached": "dlx",
    }
