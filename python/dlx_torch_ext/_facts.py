"""Reads the facts a decision needs, from the interpreter, from torch and from the environment, and never from a
device."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import sys
from typing import Any, Callable

from ._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE, function_addresses
from ._record import Record
from ._release import Release, parse
from ._settings import Settings, read_settings

# An accelerator build has one of these in torch.version; which one is set says what it was built for.
_VERSION_ATTRIBUTES = (("cuda", "cuda"), ("hip", "rocm"), ("xpu", "xpu"))


class Table(Record):
    """A table on torch.Tensor that is not ours: "upstream" (torch's own) or "foreign", and the library it lives in
    (None where the platform cannot tell). `address` is 0 if the attribute holds something that is no table."""

    provider: str
    address: int
    library: str | None = None


def _never() -> bool:
    return False


class Facts(Record):
    """Everything `resolve` looks at. Plain data, except `cuda_active`: the one question that may reach a device. It is
    asked only where a CUDA or ROCm build and torch_npu are both present."""

    torch: str | None = None
    torch_problem: str = ""
    release: Release = Release(None)
    cxx11_abi: bool | None = None
    backend: str = "cpu"
    torch_npu: str | None = None
    torch_npu_loaded: bool = False
    system: str = ""
    machine: str = ""
    python: str = ""
    implementation: str = "cpython"
    free_threaded: bool = False
    table: Table | None = None
    settings: Settings = Settings()
    cuda_active: Callable[[], bool] = _never

    @property
    def platform(self) -> str:
        """`linux-x86_64`, `macos-arm64`, `windows-x64`: the words of the manifest."""
        return f"{self.system}-{self.machine}"

    @property
    def line(self) -> tuple[int, int] | None:
        """torch's x.y as numbers, also where it is not a release."""
        return self.release.line

    @property
    def npu(self) -> bool:
        """Whether torch_npu counts: it is installed, and this is Linux, the only system Ascend has."""
        return self.torch_npu is not None and self.system == "linux"


def import_torch() -> tuple[Any, str]:
    """torch, imported as a user would, or None and why not. No torch is a fact here, not an error."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return None, "torch is not installed"
        return None, f"torch does not import: {_first_line(error)}"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # torch runs other packages' code at import; whatever they raise is a fact
        return None, f"torch does not import: {_first_line(error)}"
    return torch, ""


def read(torch: Any = None, problem: str = "", tensor_attributes: Any = None) -> Facts:
    """The facts about `torch`, or about an environment without one (`problem` says why). Imports neither torch nor
    torch_npu.

    `tensor_attributes` maps the names of the two attributes to what torch.Tensor would hold without us; by default,
    what it holds. Never raises for what a torch lacks.
    """
    npu_version = _torch_npu_version()
    facts: dict[str, Any] = {
        "torch_npu": npu_version,
        "torch_npu_loaded": npu_version is not None and "torch_npu" in sys.modules,
        "system": system(),
        "machine": _machine(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "free_threaded": "free-threading build" in sys.version,
        "settings": read_settings(),
    }
    version = getattr(torch, "__version__", None)
    if version is None:
        missing = "torch is not imported" if torch is None else "the module torch found here is not PyTorch"
        return Facts(torch_problem=problem or missing, **facts)
    if getattr(torch, "Tensor", None) is None:
        return Facts(torch_problem="torch is still being imported and has no Tensor yet", **facts)
    return Facts(
        torch=str(version),
        release=parse(str(version)),
        cxx11_abi=_cxx11_abi(torch),
        backend=_backend(torch),
        table=_existing_table(torch, tensor_attributes) if sys.implementation.name == "cpython" else None,
        cuda_active=functools.lru_cache(maxsize=1)(lambda: is_available(torch, "cuda")),
        **facts,
    )


def detect_backend(torch: Any) -> str:
    """The accelerator `torch` can use now: "cuda", "rocm", "torch_npu" or "cpu".

    CUDA's interface is asked first: `torch.version` says whether it stands for CUDA or ROCm, and where it says neither,
    for CUDA. Then torch_npu, on Linux only. This asks for devices, which may initialise a driver: it is for people and
    for builds. `resolve` goes by what torch was built for. Takes the torch module; a missing part of it counts as not
    there.
    """
    if is_available(torch, "cuda"):
        version = getattr(torch, "version", None)
        if getattr(version, "cuda", None) is None and getattr(version, "hip", None) is not None:
            return "rocm"
        return "cuda"
    if system() == "linux" and is_available(torch, "npu"):
        return "torch_npu"
    return "cpu"


def is_available(torch: Any, interface: str) -> bool:
    """Whether torch.<interface> exists and says that it is available; an interface that fails is not."""
    try:
        return bool(getattr(torch, interface).is_available())
    except Exception:
        return False


def system() -> str:
    """The system's name, "linux", "macos" or "windows"; any other as Python calls it."""
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)


def _machine() -> str:
    if sys.platform == "win32":
        name = os.environ.get("PROCESSOR_ARCHITECTURE", "").lower()
        return {"amd64": "x64"}.get(name, name)
    return os.uname().machine


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


def _torch_npu_version() -> str | None:
    module = sys.modules.get("torch_npu")
    if module is None:
        try:
            spec = importlib.util.find_spec("torch_npu")
        except (ImportError, ValueError):
            return None
        if spec is None or spec.origin is None:  # without an origin it is a folder that happens to have the name
            return None
    version = getattr(module, "__version__", None)
    if version is None:
        try:
            version = importlib.metadata.version("torch-npu")
        except importlib.metadata.PackageNotFoundError:
            version = "unknown version"
    return str(version)


def _cxx11_abi(torch: Any) -> bool | None:
    # Only libstdc++ has two ABIs. Elsewhere the rows with the newer one stand for the only one there is.
    if system() != "linux":
        return True
    asked = getattr(torch, "compiled_with_cxx11_abi", None)
    value = asked() if callable(asked) else getattr(getattr(torch, "_C", None), "_GLIBCXX_USE_CXX11_ABI", None)
    return None if value is None else bool(value)


def _backend(torch: Any) -> str:
    version = getattr(torch, "version", None)
    for attribute, backend in _VERSION_ATTRIBUTES:
        if getattr(version, attribute, None) is not None:
            return backend
    # Some builds leave torch.version without these names; the C extension still knows.
    return "cuda" if getattr(getattr(torch, "_C", None), "_has_cuda", False) else "cpu"


def _existing_table(torch: Any, tensor_attributes: Any) -> Table | None:
    def attribute(name: str) -> Any:
        return getattr(torch.Tensor, name, None) if tensor_attributes is None else tensor_attributes.get(name)

    value = attribute(CAPSULE_ATTRIBUTE)
    if value is None:
        value = attribute(LEGACY_ATTRIBUTE)
    if value is None:
        return None

    from ._capsule import table_address
    from ._locate import locate

    address = table_address(value)
    own = getattr(getattr(torch, "_C", None), "_dlpack_exchange_api", None)
    upstream = callable(own) and address != 0 and table_address(own()) == address
    function = function_addresses(address)["current_work_stream"] if address else 0
    return Table("upstream" if upstream else "foreign", address, locate(function).library or None)
