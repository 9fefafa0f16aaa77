"""For each line on stdin, print the times of the calls in ns, as JSON. tools/demo/cost.py runs this file in one of the
demo's environments."""

import json
import sys
import timeit

import torch
import tvm_ffi
import tvm_ffi.testing

CALLS = 10_000


def main() -> None:
    has_table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    if has_table != (sys.argv[1] == "table"):
        problem = "has a table and must have none" if has_table else "has no table and must have one"
        sys.exit(f"torch.Tensor {problem}: start this process as tools/demo/cost.py does")
    x, y, z = (torch.ones(4, 4) for _ in range(3))
    names = {"x": x, "y": y, "z": z, "nop": tvm_ffi.testing.nop, "echo": tvm_ffi.testing.echo}
    timers = [timeit.Timer(call, globals=names) for call in ("nop(x, y, z)", "echo(x)")]
    for _ in sys.stdin:
        print(json.dumps([min(t.repeat(3, CALLS)) / CALLS * 1e9 for t in timers]), flush=True)


if __name__ == "__main__":
    main()
