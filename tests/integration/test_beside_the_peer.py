"""torch-c-dlpack-ext installed beside this package: its import and tvm-ffi's work, and the table stays the one chosen.

Collected where it is installed. On PyPI's torch 2.6.0 its library was built for the other C++ ABI: without a table that
is there before it, `import tvm_ffi` ends in an OSError.
"""

from __future__ import annotations

from tests.support.process import spawn

CODE = """
import json
import torch
import dlx_torch_ext
before = dlx_torch_ext.attach()
table = torch.Tensor.__dlpack_c_exchange_api__
import tvm_ffi
import torch_c_dlpack_ext
after = dlx_torch_ext.status()
same = torch.Tensor.__dlpack_c_exchange_api__ is table
echo = tvm_ffi.get_global_func("testing.echo")(torch.arange(3))
print(json.dumps([before.provider, after.provider, same, echo.tolist()]))
"""


def test_the_table_stays_ours() -> None:
    before, after, same, echo = spawn.code(CODE, env={"DLX_TORCH_DISABLE": None}).value
    assert before == after
    assert before in ("dlx", "upstream")
    assert same
    assert echo == [0, 1, 2]
