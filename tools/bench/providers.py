"""Who gives torch a table: what is measured side by side. Another provider is one more entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tools.testing.plan import PEER, TVM_FFI


@dataclass(frozen=True)
class Provider:
    """Each has a process in an environment of its own. `ours`: our wheel is installed there. `reference`: the other
    providers of the same torch are compared with it."""

    name: str
    torch: str
    extras: tuple[str, ...] = ()
    ours: bool = False
    reference: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def requirements(self) -> tuple[str, ...]:
        return (TVM_FFI, *self.extras)

    @property
    def label(self) -> str:
        return f"{self.name}, torch {self.torch}"


# Else tvm-ffi compiles or loads an addon of its own where there is no table.
_NO_ADDON = {"TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}

PROVIDERS = (
    Provider("torch-c-dlpack-ext", "2.9.1", (PEER,), reference=True),
    Provider("dlx-torch-ext", "2.9.1", ours=True),
    Provider("tvm-ffi's compiled addon", "2.9.1", ("ninja",)),
    Provider("no table", "2.9.1", variables=_NO_ADDON),
    Provider("torch's own", "2.13.0", variables=_NO_ADDON, reference=True),
    Provider("dlx-torch-ext", "2.13.0", ours=True, variables={"DLX_TORCH_PREFER": "dlx"}),
)
