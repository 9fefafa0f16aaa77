"""torch-c-dlpack-ext beside this package: it and tvm-ffi can be imported, and the table stays the one that was chosen.

For PyPI's torch 2.6.0 the peer's library has the other C++ ABI: if no table is attached before it, `import tvm_ffi`
ends in an OSError.
"""

from __future__ import annotations

from importlib.util import find_spec

from tests.snippets import peer
from tests.support.left_out import left_out_if
from tests.support.process import spawn
from tests.support.this_torch import HAS_OWN_TABLE, LINE

pytestmark = left_out_if(find_spec("torch_c_dlpack_ext") is None, "torch-c-dlpack-ext is not installed")


@left_out_if(LINE == (2, 6), "torch-c-dlpack-ext has no library for the C++ ABI of this torch")
@left_out_if(HAS_OWN_TABLE, "torch-c-dlpack-ext does nothing where torch has a table")
def test_it_is_replaced_where_ours_is_preferred_and_comes_back() -> None:
    seen = spawn.call(peer.attach_after_the_peer, env={"DLX_TORCH_AUTOLOAD": "0", "DLX_TORCH_DISABLE": None})
    assert "torch_c_dlpack" in seen.pop("reason")
    assert seen.pop("conjugate").startswith("dlx-torch: cannot export a tensor with the conjugate bit")
    assert seen == {
        "default": "foreign",
        "preferred": "dlx",
        "same integer": False,
        "detached": "foreign",
        "restored": True,
    }


def test_the_table_stays_ours() -> None:
    before, after, same, echo = spawn.call(peer.attach_before_the_peer, env={"DLX_TORCH_DISABLE": None})
    assert before == after
    assert before in ("dlx", "upstream")
    assert same
    assert echo == [0, 1, 2]
