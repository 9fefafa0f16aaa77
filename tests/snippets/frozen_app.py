"""An app that PyInstaller or PEX packs: imports torch and prints whose table torch.Tensor has then, as JSON.

The first argument, if there is one, is a folder with torch for an app that has none inside.
"""

from __future__ import annotations

import json
import sys


def main() -> None:
    sys.path += sys.argv[1:]
    import dlx_torch_ext
    import torch

    status = dlx_torch_ext.status()
    answer = {name: getattr(status, name) for name in ("provider", "library", "reason")}
    answer.update(version=dlx_torch_ext.__version__, package=dlx_torch_ext.__file__, torch=torch.__file__)
    print(json.dumps(answer))


def stdlib_modules_of_torch() -> list[str]:
    """The modules of the standard library that this app needs for a torch that is not inside it."""
    import torch  # noqa: F401

    names = {*sys.builtin_module_names, "__main__", "typing.io", "typing.re"}  # PyInstaller finds no file of these
    return sorted({name for name in sys.modules if name.partition(".")[0] in sys.stdlib_module_names} - names)


if __name__ == "__main__":
    main()
