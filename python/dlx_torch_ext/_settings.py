"""The environment variables of this package, read once per question."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._record import Record

UPSTREAM = "upstream"
DLX = "dlx"
PREFERENCES = (UPSTREAM, DLX)

_OFF = ("0", "false", "no", "off")


class Settings(Record):
    """What the user asked for.

    `disable`: DLX_TORCH_DISABLE, put no table anywhere. `autoload`: DLX_TORCH_AUTOLOAD, attach at `import torch`.
    `prefer`: DLX_TORCH_PREFER, "upstream" or "dlx", whose table where torch has its own. `library`: DLX_TORCH_LIBRARY,
    the path of a library to use instead of the chosen one. `cache_dir`: DLX_TORCH_CACHE_DIR. `npu_drain`:
    DLX_TORCH_NPU_DRAIN, drain the host queue before a stream is handed out. `problem`: a value that makes no sense, in
    one line; empty if all do.
    """

    disable: bool = False
    autoload: bool = True
    prefer: str = UPSTREAM
    library: str = ""
    cache_dir: str = ""
    npu_drain: bool = True
    problem: str = ""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads `environment`, by default os.environ. Never raises."""
    environment = os.environ if environment is None else environment
    prefer = environment.get("DLX_TORCH_PREFER", "") or UPSTREAM
    problem = ""
    if prefer not in PREFERENCES:
        problem = f"DLX_TORCH_PREFER={prefer} is neither upstream nor dlx: taken as upstream"
        prefer = UPSTREAM
    return Settings(
        disable=_flag(environment.get("DLX_TORCH_DISABLE"), default=False),
        autoload=_flag(environment.get("DLX_TORCH_AUTOLOAD"), default=True),
        prefer=prefer,
        library=_path(environment.get("DLX_TORCH_LIBRARY")),
        cache_dir=_path(environment.get("DLX_TORCH_CACHE_DIR")),
        npu_drain=_flag(environment.get("DLX_TORCH_NPU_DRAIN"), default=True),
        problem=problem,
    )


def _flag(value: str | None, *, default: bool) -> bool:
    if not value:
        return default
    return value.strip().lower() not in _OFF


def _path(value: str | None) -> str:
    return os.path.abspath(os.path.expanduser(value)) if value else ""
