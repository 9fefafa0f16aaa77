"""Reads the facts that a decision needs, from Python, from torch and from the environment. Asks no device."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
from typing import Any, Callable

from ._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE, attribute_of, function_addresses
from ._record import Record
from ._release import Release, parse
from ._settings import Settings, read_settings

# Attributes of torch.version. The one that is not None says which backend this torch was built for.
_VERSION_ATTRIBUTES = (("cuda", "cuda"), ("hip", "rocm"), ("xpu", "xpu"))


class Table(Record):
    """A table on torch.Tensor that is not ours. `provider`: "upstream" (torch's own) or "foreign" (another package's).
    `address`: 0 if the attribute holds something else than a table, as far as the system can tell. `library`: the
    library that holds its functions, None if the system cannot tell."""

    provider: str
    address: int
    library: str | None = None

    @property
    def of_torch_npu(self) -> bool:
        """Whether torch_npu put it there: it comes from one of the libraries that torch_npu brings."""
        return self.provider == "foreign" and os.path.basename(self.library or "").startswith("libtorch_npu")


def _never() -> bool:
    return False


class Facts(Record):
    """All that `resolve` uses. Plain data, except `cuda_active`, which counts the CUDA or ROCm devices and is called
    only where a CUDA or ROCm build of torch and torch_npu are both installed."""

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
        """`linux-x86_64`, `macos-arm64` or `windows-x64`, as in the manifest."""
        return f"{self.system}-{self.machine}"

    @property
    def line(self) -> tuple[int, int] | None:
        """The release line of torch as numbers, (2, 9). A nightly or vendor build has one too."""
        return self.release.line

    @property
    def npu(self) -> bool:
        """Whether torch_npu is installed on Linux, the only system that Ascend supports."""
        return self.torch_npu is not None and self.system == "linux"


def import_torch() -> tuple[Any, str]:
    """torch, imported as a user does it, and ""; or None and why there is none. Raises nothing if there is none."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return None, f"torch is not installed in {sys.prefix}: install it there, or run the Python that has it"
        return None, _import_problem(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # `import torch` runs code of other packages, which may raise anything
        return None, _import_problem(error)
    return torch, ""


def read(torch: Any = None, problem: str = "", tensor_attributes: Any = None) -> Facts:
    """The facts about the module `torch`, or about a Python without torch, where `problem` says why there is none.
    Imports neither torch nor torch_npu. Never raises for something that `torch` lacks.

    `tensor_attributes` maps the names of the two attributes for tables to the values that torch.Tensor would have
    without us. By default they are read from torch.Tensor.
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
        return Facts(torch_problem=problem or _missing(torch), **facts)
    if getattr(torch, "Tensor", None) is None:
        unfinished = "torch is still being imported and has no Tensor yet: call dlx_torch_ext.attach() after the import"
        return Facts(torch_problem=unfinished, **facts)
    backend = _backend(torch)
    return Facts(
        torch=str(version),
        release=parse(str(version)),
        cxx11_abi=_cxx11_abi(torch),
        backend=backend,
        table=_existing_table(torch, tensor_attributes) if sys.implementation.name == "cpython" else None,
        cuda_active=functools.lru_cache(maxsize=1)(lambda: _has_device(torch, backend)),
        **facts,
    )


def detect_backend(torch: Any) -> str:
    """The backend that the module `torch` can use now: "cuda", "rocm", "torch_npu" or "cpu".

    First asks torch.cuda, which serves CUDA and ROCm: `torch.version` says which; if it says neither, it is CUDA. Then
    asks torch.npu, on Linux only. A part that `torch` lacks counts as not available. If both are available, torch_npu
    may stand in for torch.cuda (`transfer_to_npu`), so torch's own count of CUDA devices decides.

    This asks for devices, which may initialise a driver: use it by hand or to build. `resolve` does not ask, but uses
    the backend that torch was built for.
    """
    from ._accelerator import is_torch_npus

    if not is_torch_npus(torch) and is_available(torch, "cuda"):
        version = getattr(torch, "version", None)
        if getattr(version, "cuda", None) is None and getattr(version, "hip", None) is not None:
            return "rocm"
        return "cuda"
    if system() == "linux" and is_available(torch, "npu"):
        return "torch_npu"
    return "cpu"


def _has_device(torch: Any, build: str) -> bool:
    from ._accelerator import has_device  # imported here: `import torch` asks only where torch_npu is installed, too

    return has_device(torch, build)


def is_available(torch: Any, interface: str) -> bool:
    """Whether torch.<interface> exists and says that it is available. False if asking raises an exception."""
    try:
        return bool(getattr(torch, interface).is_available())
    except Exception:
        return False


def system() -> str:
    """The name of this system: "linux", "macos" or "windows"; else Python's name for it."""
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)


def _machine() -> str:
    if sys.platform == "win32":
        name = os.environ.get("PROCESSOR_ARCHITECTURE", "").lower()
        return {"amd64": "x64"}.get(name, name)
    return os.uname().machine


def _import_problem(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    cause = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return f"`import torch` fails ({cause}): reinstall torch, or install what it lacks"


def _missing(torch: Any) -> str:
    if torch is None:
        return "torch is not imported: import it first"
    place = getattr(torch, "__file__", None) or ", ".join(getattr(torch, "__path__", ())) or "an unknown place"
    return f"the module torch from {place} is not PyTorch, because it has no __version__: rename or remove it"


def _torch_npu_version() -> str | None:
    module = sys.modules.get("torch_npu")
    if module is None:
        try:
            spec = find_spec("torch_npu")
        except (ImportError, ValueError):
            return None
        if spec is None or spec.origin is None:  # a folder of that name, but not a package
            return None
    version = getattr(module, "__version__", None)
    if version is None:
        try:
            version = importlib.metadata.version("torch-npu")
        except importlib.metadata.PackageNotFoundError:
            version = "unknown version"
    return str(version)


def find_spec(name: str) -> Any:
    """Asks every finder as importlib.util.find_spec does, but without Python's import lock: in a child that C forked,
    a thread which does not exist there may hold it for ever."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None)
        if spec is not None:
            return spec
    return None


def _cxx11_abi(torch: Any) -> bool | None:
    # Only libstdc++ has two ABIs. On other systems there is one, and the rows with cxx11_abi = True are for it.
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
    # Some builds have no such names in torch.version, but their C extension knows.
    return "cuda" if getattr(getattr(torch, "_C", None), "_has_cuda", False) else "cpu"


def _existing_table(torch: Any, tensor_attributes: Any) -> Table | None:
    def attribute(name: str) -> Any:
        return attribute_of(torch.Tensor, name) if tensor_attributes is None else tensor_attributes.get(name)

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
