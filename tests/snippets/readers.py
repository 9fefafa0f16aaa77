"""The smallest use of torch's tensors by libraries that might read the table, on the CPU."""

from __future__ import annotations

from typing import Any, Callable


def apache_tvm(x: Any) -> Any:
    import tvm

    return tvm.runtime.from_dlpack(x).numpy().tolist()


def cute_dsl(x: Any) -> Any:
    from cutlass.cute.runtime import from_dlpack

    described = from_dlpack(x, enable_tvm_ffi=True)
    return [list(described.shape), described.data_ptr == x.data_ptr()]


def cute_dsl_by_default(x: Any) -> Any:
    from cutlass.cute.runtime import from_dlpack

    described = from_dlpack(x)
    return [list(described.shape), described.data_ptr == x.data_ptr()]


def tilelang(x: Any) -> Any:
    """A kernel for the CPU that adds one."""
    import tilelang as library
    import tilelang.language as T
    import torch

    size = x.numel()

    @T.prim_func  # type: ignore[untyped-decorator]
    def add_one(a: T.Tensor((size,), "float32"), b: T.Tensor((size,), "float32")) -> None:  # type: ignore[valid-type]
        with T.Kernel(1):
            for i in T.serial(size):
                b[i] = a[i] + 1.0

    kernel = library.compile(add_one, target="c")
    out = torch.empty_like(x)
    kernel(x, out)
    return torch.Tensor.tolist(out)


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    function.__name__: function for function in (apache_tvm, cute_dsl, cute_dsl_by_default, tilelang)
}


def used(library: str, recorded: bool) -> dict[str, Any]:
    """The result for a plain tensor, and whether that has a table. If `recorded`, also what it asked a probe."""
    import torch

    use = LIBRARIES[library]
    found = {"result": use(torch.arange(4.0)), "table": hasattr(torch.Tensor, "__dlpack_c_exchange_api__")}
    if recorded:
        from dlx_torch_ext._dlpack import FUNCTIONS
        from dlx_torch_ext.testing import probe

        x = probe(torch.arange(4.0), device=("cpu", 0))
        use(x)
        found["asked"] = sorted({call.function for call in x.probe.calls if call.function in FUNCTIONS})
        found["methods"] = sorted({call.function for call in x.probe.calls if call.function.startswith("__")})
    return found
