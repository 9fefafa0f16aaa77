"""`import torch`, and what people call after it, with damaged modules of ours: each in a fork, for a fresh start.

Imports nothing of ours before it forks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.support.process import fork

DAMAGES = {
    "empty": b"",
    "zeros": bytes(512),
    "not Python": b"\x89PNG\r\n\x1a\n",
    "cut off": b"from __future__ import annotations\n\n\ndef attach(",
    "missing": None,
}


def modules() -> list[str]:
    """The modules of ours that `import torch` and the public functions may import, as paths below site-packages."""
    site = _site()
    packages = [site / "dlx_torch_ext_autoload", site / "dlx_torch_ext"]
    return [str(file.relative_to(site)) for package in packages for file in sorted(package.glob("*.py"))]


def use_each(damage: str, but: list[str]) -> dict[str, Any]:
    """For each module but those: how `import torch` and `attach` ended after it had been damaged, and the warnings."""
    seen = {}
    for name in sorted(set(modules()) - set(but)):
        file = _site() / name
        content, replacement = file.read_bytes(), DAMAGES[damage]
        if replacement is None:
            file.unlink()
        else:
            file.write_bytes(replacement)
        seen[name] = fork.run(lambda: json.dumps(_use())).value
        file.write_bytes(content)
    return seen


def use_without(folder: str) -> Any:
    """`folder` may be installed a second time, in the environment of the tests: that one is not to be found either."""
    os.rename(_site() / folder, _site() / f"{folder}-gone")
    sys.path[:] = [entry for entry in sys.path if not Path(entry, folder).exists()]
    return fork.run(lambda: json.dumps(_use())).value


def _site() -> Path:
    spec = importlib.util.find_spec("dlx_torch_ext_autoload") or importlib.util.find_spec("dlx_torch_ext")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent.parent


def _use() -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import torch  # a failure of it is this process's traceback
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # and then too it must not fail
        importlib.reload(torch)
    answer: dict[str, Any] = {"warnings": [f"{one.category.__name__}: {one.message}" for one in caught]}
    try:
        import dlx_torch_ext

        answer["attached"] = dlx_torch_ext.attach().provider
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    return answer
