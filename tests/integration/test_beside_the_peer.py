"""torch-c-dlpack-ext beside this package: it and tvm-ffi can be imported, and the table stays the one that was chosen.

For PyPI's torch 2.6.0 the peer's library has the other C++ ABI: if no table is attached before it, `import tvm_ffi`
ends in an OSError.
"""

from __future__ import annotations

from importlib.util import find_spec

from tests.snippets import peer
from tests.support.left_out import left_out_if
from tests.support.process import spawn


@left_out_if(find_spec("torch_c_dlpack_ext") is None, "torch-c-dlpack-ext is not installed")
def test_the_table_stays_ours() -> None:
    before, after, same, echo = spawn.call(peer.attach_before_the_peer, env={"DLX_TORCH_DISABLE": None})
    assert before == after
    assert before in ("dlx", "upstream")
    assert same
    assert echo == [0, 1, 2]
