"""The entry point in the group torch.backends: torch calls it at the end of `import torch`, and whatever it raises
would end that import. So it raises nothing, and imports the rest of the package only when there is something to do."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ._settings import read_settings

if TYPE_CHECKING:
    from ._facts import Facts

ENTRY_POINT_GROUP = "torch.backends"
ENTRY_POINT = "dlx_torch_ext._autoload:autoload"
_TORCH_AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
_FIRST_LINE_WITH_AUTOLOAD = (2, 5)

fired = False
failure = ""
suspended = ""  # why the doctor wants nothing attached in its own process


def autoload() -> None:
    """Attaches, unless DLX_TORCH_AUTOLOAD=0 or DLX_TORCH_DISABLE=1. What goes wrong is kept for `status()`."""
    global fired, failure
    fired = True
    try:
        settings = read_settings()
        if settings.autoload and not settings.disable and not suspended:
            from ._attach import attach_imported

            attach_imported(sys.modules["torch"])
    except (KeyboardInterrupt, SystemExit):
        raise  # the user's own wish to stop, which an import passes on
    except BaseException as error:  # panics and cancellations are no Exception, and an import has to survive them too
        failure = f"{type(error).__name__}: {error}"


def why_not_attached(facts: Facts) -> str:
    """Why nothing was attached at `import torch`, in one line that says what to do; "" if the entry point ran to its
    end."""
    if facts.settings.disable:
        return "DLX_TORCH_DISABLE is set"
    if not facts.settings.autoload:
        return "DLX_TORCH_AUTOLOAD=0: call dlx_torch_ext.attach()"
    if suspended:
        return suspended
    if fired:
        return f"attaching at import failed ({failure})" if failure else ""
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
    # Python 3.9 has a dict of lists here, later ones select.
    group = points.select(group=ENTRY_POINT_GROUP) if hasattr(points, "select") else points.get(ENTRY_POINT_GROUP, ())
    return any(point.value == ENTRY_POINT for point in group)
