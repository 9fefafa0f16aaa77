"""Installs the dependency group `mutate`, which no other command needs, into the tool environment."""

from __future__ import annotations

import importlib.util
import sys

from tools.settings import ROOT, run, tool, uv_environment


def install() -> None:
    """Once; later it does nothing."""
    if not all(map(importlib.util.find_spec, ("universalmutator", "cosmic_ray"))):
        command = [tool("uv"), "pip", "install", "-q", "--python", sys.executable, "--group", "mutate"]
        run(command, what="installing the dependency group mutate", env=uv_environment(), cwd=ROOT)
        importlib.invalidate_caches()
