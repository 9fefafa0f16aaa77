"""The environment variables of this package, read once per question."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._record import Record

UPSTREAM = "upstream"
DLX = "dlx"
PREFERENCES = (UPSTREAM, DLX)

# What a switch may say. Any other word counts as on; the doctor warns of it.
ON = ("1", "true", "yes", "on")
OFF = ("0", "false", "no", "off")

# The variables that are read when the package runs, by the field of Settings that each becomes.
VARIABLES = {
    "disable": "DLX_TORCH_DISABLE",
    "autoload": "DLX_TORCH_AUTOLOAD",
    "prefer": "DLX_TORCH_PREFER",
    "library": "DLX_TORCH_LIBRARY",
    "cache_dir": "DLX_TORCH_CACHE_DIR",
    "npu_drain": "DLX_TORCH_NPU_DRAIN",
    "refuse_read_only": "DLX_TORCH_REFUSE_READ_ONLY",
}
SWITCHES = ("disable", "autoload", "npu_drain", "refuse_read_only")
# The variables that are read when libraries are compiled: pyproject.toml gives them to CMake.
BUILD_VARIABLES = (
    "DLX_TORCH_BUILD_NATIVE",
    "DLX_TORCH_ROWS",
    "DLX_TORCH_BACKENDS",
    "DLX_TORCH_SDK_DIR",
    "DLX_TORCH_DIR",
)


class Settings(Record):
    """What the user asked for.

    `disable`: put no table anywhere. `autoload`: attach at `import torch`. `prefer`: "upstream" or "dlx", whose table
    to use where torch has its own. `library`: the path of a library to use instead of the chosen one. `cache_dir`:
    where libraries that were built here are. `npu_drain`: drain the host queue before a stream is handed out.
    `refuse_read_only`: import no managed tensor that its producer calls read-only.
    `problem`: what is wrong with a value, in one line; empty if nothing is.
    """

    disable: bool = False
    autoload: bool = True
    prefer: str = UPSTREAM
    library: str = ""
    cache_dir: str = ""
    npu_drain: bool = True
    refuse_read_only: bool = False
    problem: str = ""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads `environment`, by default os.environ. Never raises."""
    environment = os.environ if environment is None else environment
    given = {field: environment.get(name, "") for field, name in VARIABLES.items()}
    prefer, problem = given["prefer"] or UPSTREAM, ""
    if prefer not in PREFERENCES:
        problem = f"{VARIABLES['prefer']}={prefer} is neither upstream nor dlx: taken as upstream"
        prefer = UPSTREAM
    return Settings(
        disable=_is_on(given["disable"], default=False),
        autoload=_is_on(given["autoload"], default=True),
        prefer=prefer,
        library=_path(given["library"]),
        cache_dir=_path(given["cache_dir"]),
        npu_drain=_is_on(given["npu_drain"], default=True),
        refuse_read_only=_is_on(given["refuse_read_only"], default=False),
        problem=problem,
    )


def _is_on(value: str, *, default: bool) -> bool:
    if not value:
        return default
    return value.strip().lower() not in OFF


def _path(value: str) -> str:
    return os.path.abspath(os.path.expanduser(value)) if value else ""
