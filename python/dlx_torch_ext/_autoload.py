"""What the entry point in the group torch.backends does at the end of `import torch`. torch calls it through the
package dlx_torch_ext_autoload, which catches what happens if a module of this package is damaged.

An exception would make `import torch` fail, so none leaves. The rest of the package is imported only if there is
something to attach.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ._settings import read_settings

if TYPE_CHECKING:
    from ._facts import Facts

ENTRY_POINT_GROUP = "torch.backends"
ENTRY_POINT = "dlx_torch_ext_autoload:__repr__"
_TORCH_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_FIRST_LINE_WITH_AUTOLOAD = (2, 5)

fired = False
failure = ""
suspended = ""  # the reason why the doctor lets nothing be attached in its own process


def autoload() -> None:
    """Attaches, unless DLX_TORCH_AUTOLOAD=0 or DLX_TORCH_DISABLE=1. `status()` reports an error of attaching. Raises
    only where modules of this package that `status` needs as well cannot be imported."""
    global fired, failure
    fired = True
    settings = read_settings()
    if settings.disable or not settings.autoload or suspended:
        return
    from ._attach import attach_imported

    try:
        attach_imported(sys.modules["torch"])
    except (KeyboardInterrupt, SystemExit):
        raise  # the user wants the program to stop
    except BaseException as error:  # not only Exception: an extension may raise a class of its own
        failure = f"{type(error).__name__}: {error}"


def why_not_attached(facts: Facts) -> str:
    """Why the entry point attached nothing at `import torch`, and what to do, in one line; "" if it ran to its end."""
    if facts.settings.disable:
        return "DLX_TORCH_DISABLE is set: unset it"
    if not facts.settings.autoload:
        return "DLX_TORCH_AUTOLOAD=0: call dlx_torch_ext.attach()"
    if suspended:
        return suspended
    if fired:
        return f"attaching at `import torch` failed ({failure}): report this" if failure else ""
    if facts.torch is None:
        return facts.torch_problem
    if facts.line is not None and facts.line < _FIRST_LINE_WITH_AUTOLOAD:
        return f"torch {facts.torch} calls no extension at import (2.5 and newer do): call dlx_torch_ext.attach()"
    if os.environ.get(_TORCH_AUTOLOAD) == "0":
        by = ", which `import torch_npu` before `import torch` sets," if facts.torch_npu_loaded else ""
        return f"{_TORCH_AUTOLOAD}=0{by} keeps torch from calling extensions at import: call dlx_torch_ext.attach()"
    if not _is_registered():
        return (
            f"no entry point {ENTRY_POINT} in the group {ENTRY_POINT_GROUP}: reinstall dlx-torch-ext, or call"
            " dlx_torch_ext.attach()"
        )
    return "torch was imported before dlx-torch-ext could be found: call dlx_torch_ext.attach()"


def _is_registered() -> bool:
    import importlib.metadata

    points: Any = importlib.metadata.entry_points()
    # A dict of lists on CPython 3.9; newer ones have select().
    group = points.select(group=ENTRY_POINT_GROUP) if hasattr(points, "select") else points.get(ENTRY_POINT_GROUP, ())
    return any(point.value == ENTRY_POINT for point in group)
