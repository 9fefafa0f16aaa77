"""Packs tests/snippets/frozen_app.py with PyInstaller or PEX, and runs what they make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.snippets import frozen_app
from tests.support.process import spawn
from tests.support.process.finished import ROOT

# No test measures it: it only keeps a process that hangs from stopping the whole session.
TIMEOUT_S = 3600

APP = ROOT / "tests" / "snippets" / "frozen_app.py"


def freeze(folder: Path, form: str) -> Path:
    """The program that PyInstaller makes of the app, of the form "onedir" or "onefile".

    torch stays outside. PyInstaller cannot see what it needs of the standard library, so it is told.
    """
    words = ["-m", "PyInstaller", "--noconfirm", "--log-level=ERROR", f"--{form}", "--name=app"]
    words += [f"--distpath={folder / form}", f"--workpath={folder / 'work' / form}", f"--specpath={folder}"]
    hidden = spawn.call(frozen_app.stdlib_modules_of_torch)
    words += ["--exclude-module=torch", *(f"--hidden-import={name}" for name in hidden)]
    _finish([sys.executable, *words, str(APP)], {**os.environ, "PYINSTALLER_CONFIG_DIR": str(folder / "cache")})
    return folder / form / "app" / "app" if form == "onedir" else folder / form / "app"


def pex(folder: Path) -> Path:
    """A PEX with the installed dlx-torch-ext and nothing else. Python's own packages come after its content."""
    target = folder / "app.pex"
    words = ["-m", "pex", "dlx-torch-ext", "--intransitive", f"--venv-repository={sys.prefix}"]
    words += ["--inherit-path=fallback", f"--pex-root={folder / 'root'}", f"--runtime-pex-root={folder / 'root'}"]
    _finish([sys.executable, *words, "-o", str(target)], dict(os.environ))
    return target


def run(*command: str | Path, **env: str) -> Any:
    """What the app answers; it has to end with exit status 0. No settings, but `env`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DLX_TORCH_", "PYTHON"))}
    return json.loads(_finish([str(word) for word in command], {**kept, **env}))


def _finish(command: list[str], environment: dict[str, str]) -> str:
    """What the command prints; it has to end with exit status 0."""
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
