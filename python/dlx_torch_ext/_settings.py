"""The environment variables of this package, read once per question."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ._record import Record

UPSTREAM = "upstream"
DLX = "dlx"
PREFERENCES = (UPSTREAM, DLX)
NPU_DEVICE_TYPES = ("ext_dev", "ascend")

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
    "npu_device_type": "DLX_TORCH_NPU_DEVICE_TYPE",
    "refuse_read_only": "DLX_TORCH_REFUSE_READ_ONLY",
}
# What a variable that is no switch may say; the first word is the default. The doctor warns of any other.
CHOICES = {"prefer": PREFERENCES, "npu_device_type": NPU_DEVICE_TYPES}
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
    `npu_device_type`: the name under which NPU tensors are exported, kDLExtDev or kDLAscend.
    `refuse_read_only`: import no managed tensor that its producer calls read-only.
    `problem`: what is wrong with a value, in one line; empty if nothing is.
    """

    disable: bool = False
    autoload: bool = True
    prefer: str = UPSTREAM
    library: str = ""
    cache_dir: str = ""
    npu_drain: bool = True
    npu_device_type: str = NPU_DEVICE_TYPES[0]
    refuse_read_only: bool = False
    problem: str = ""


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Reads `environment`, by default os.environ. Never raises."""
    environment = os.environ if environment is None else environment
    given = {field: environment.get(name, "") for field, name in VARIABLES.items()}
    return Settings(
        disable=_is_on(given["disable"], default=False),
        autoload=_is_on(given["autoload"], default=True),
        prefer=_choice("prefer", given["prefer"]),
        library=_path(given["library"]),
        cache_dir=_path(given["cache_dir"]),
        npu_drain=_is_on(given["npu_drain"], default=True),
        npu_device_type=_choice("npu_device_type", given["npu_device_type"]),
        refuse_read_only=_is_on(given["refuse_read_only"], default=False),
        problem="; ".join(wrong_choices(environment).values()),
    )


def wrong_choices(environment: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with a value, by the field of CHOICES, a line each."""
    taken = {
        "prefer": "is neither upstream nor dlx: taken as upstream",
        "npu_device_type": "is neither ext_dev nor ascend: taken as ext_dev",
    }
    given = {field: environment.get(VARIABLES[field], "") for field in CHOICES}
    return {
        field: f"{VARIABLES[field]}={value} {taken[field]}"
        for field, value in given.items()
        if value and _word(field, value) not in CHOICES[field]
    }


def _choice(field: str, value: str) -> str:
    words = CHOICES[field]
    return _word(field, value) if _word(field, value) in words else words[0]


def _word(field: str, value: str) -> str:
    return value.strip().lower() if field == "npu_device_type" else value  # as the libraries read it


def _is_on(value: str, *, default: bool) -> bool:
    if not value:
        return default
    return value.strip().lower() not in OFF


def _path(value: str) -> str:
    return os.path.abspath(os.path.expanduser(value)) if value else ""
