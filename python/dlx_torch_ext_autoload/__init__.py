"""What torch calls at the end of `import torch`: a package of its own, so that no damage to dlx_torch_ext, by a full
disk or an interrupted upgrade, can make `import torch` fail.

The entry point names `__repr__`, which every module has: where this file is empty, torch calls a method that does
nothing.
"""

import contextlib
import warnings


def __repr__() -> str:
    try:
        from dlx_torch_ext._autoload import autoload

        autoload()
    except Exception as error:
        _warn(f"{type(error).__name__}: {error}")
    return __name__


def _warn(problem: str) -> None:
    text = f"dlx-torch-ext is damaged and attaches nothing ({problem}): reinstall or uninstall it"
    with contextlib.suppress(RuntimeWarning):  # where warnings are errors, this one must not end `import torch`
        warnings.warn(text, RuntimeWarning, stacklevel=3)
