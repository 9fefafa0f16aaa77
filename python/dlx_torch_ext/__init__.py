"""The DLPack C exchange API for every PyTorch, with the right stream on every accelerator.

From torch 2.5 on, `import torch` calls this package, which then attaches a table; before that, call `attach()`.
Importing this package does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._api import attach, detach, resolve, status
    from ._errors import AttachError, AttachWarning, BuildError, Error
    from ._facts import Facts, detect_backend
    from ._headers import get_cmake_dir, get_include, get_pkgconfig_dir
    from ._resolve import Accepted, Candidate, Rejected, Resolution
    from ._status import Status

    __version__: str

# The module of each public name. A name is imported when somebody first asks for it: `import torch` imports this
# package too, for its entry point, and must not import modules that the entry point does not use.
_MODULE_OF = {
    "Accepted": "_resolve",
    "AttachError": "_errors",
    "AttachWarning": "_errors",
    "BuildError": "_errors",
    "Candidate": "_resolve",
    "Error": "_errors",
    "Facts": "_facts",
    "Rejected": "_resolve",
    "Resolution": "_resolve",
    "Status": "_status",
    "attach": "_api",
    "detach": "_api",
    "detect_backend": "_facts",
    "get_cmake_dir": "_headers",
    "get_include": "_headers",
    "get_pkgconfig_dir": "_headers",
    "resolve": "_api",
    "status": "_api",
}

__all__ = [
    "Accepted",
    "AttachError",
    "AttachWarning",
    "BuildError",
    "Candidate",
    "Error",
    "Facts",
    "Rejected",
    "Resolution",
    "Status",
    "__version__",
    "attach",
    "detach",
    "detect_backend",
    "get_cmake_dir",
    "get_include",
    "get_pkgconfig_dir",
    "resolve",
    "status",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _MODULE_OF:
        value = _import(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _import(name: str) -> Any:
    from importlib import import_module

    try:
        return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    except (ImportError, SyntaxError, ValueError, AttributeError) as error:
        # Not by _errors.damaged, because that module may be the damaged one.
        problem = f"{type(error).__name__}: {error}"
        raise ImportError(f"dlx-torch-ext is damaged ({problem}): reinstall it", name=__name__) from error


def __dir__() -> list[str]:
    return __all__


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dlx-torch-ext")
    except PackageNotFoundError:  # the package runs from a source tree and is not installed
        return "0+unknown"
