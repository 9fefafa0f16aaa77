"""For PyInstaller only, which finds this package by its entry point and asks it for the folder of the hook."""

from __future__ import annotations

import os


def hook_dirs() -> list[str]:
    return [os.path.dirname(__file__)]
