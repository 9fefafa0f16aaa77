"""Where ./dev keeps its files, and the package indexes that it uses: those of pip's configuration, passed on to uv."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# pip's settings, and the environment variables of uv that mean the same. uv does not read pip's configuration, and both
# must see the same packages.
_PIP_TO_UV = {
    "find_links": "UV_FIND_LINKS",
    "index_url": "UV_DEFAULT_INDEX",
    "extra_index_url": "UV_INDEX",
    "no_index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
}


class ToolError(Exception):
    """An error that the user can fix. The text says what was asked, what is here and what to do."""


def dev_dir() -> Path:
    """The folder that holds everything ./dev downloads and builds: $DLX_DEV_DIR, or one in the user's cache."""
    if chosen := os.environ.get("DLX_DEV_DIR"):
        return Path(chosen).expanduser().resolve()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "dlx-torch-dev"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs: a second ./dev waits. The system releases the lock even when the process
    crashes. OSError where a symbolic link is there. On Windows this locks nothing: ./dev does not run there."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)  # never to empty what a link leads to
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def machine() -> str:
    """This machine's processor as variants.toml spells it: "x86_64" or "aarch64" on Linux, "arm64" on macOS, "x64" on
    Windows. The systems themselves spell them differently."""
    return {"amd64": "x64"}.get(platform.machine().lower(), platform.machine().lower())


def tool(name: str) -> str:
    """The path of a program of the tool environment; ToolError where it is missing."""
    path = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if path is None:
        raise ToolError(f"{name} is not in the tool environment {sys.prefix}: run ./dev, which sets it up")
    return path


@functools.lru_cache(maxsize=1)
def pip_configuration() -> dict[str, str]:
    """pip's settings by name (with underscores), its files and its environment variables merged as pip merges them."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    settings: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in ("global", "install", ":env:"):  # pip lists the stronger source later
            settings[name.replace("-", "_")] = value.strip("'\"").replace("\\n", " ")
    return settings


@functools.lru_cache(maxsize=1)
def _uv_settings() -> dict[str, str]:
    settings: dict[str, str] = {}
    for name, value in pip_configuration().items():
        if variable := _PIP_TO_UV.get(name):
            # uv separates folders by commas, and indexes by spaces; pip separates both by white space.
            settings[variable] = ",".join(value.split()) if name == "find_links" else value
    if "UV_INDEX" in settings:
        settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # as pip does: take the best version of all indexes
    settings["UV_HTTP_TIMEOUT"] = "300"  # a torch wheel is most of a gigabyte
    return settings


def uv_environment(**more: str) -> dict[str, str]:
    """The environment for uv (and pip): pip's configuration as uv's variables, then the caller's own variables, then
    `more`; the later ones win."""
    environment = {**_uv_settings(), **os.environ, **more}
    environment.pop("VIRTUAL_ENV", None)
    return environment


def run(command: list[str], *, what: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a program quietly and return what it printed. Where it fails, the ToolError ends with all its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=cwd)
    if done.returncode != 0:
        raise ToolError(
            f"{what} failed (exit {done.returncode}): {' '.join(command)}\n{done.stdout}{done.stderr}".rstrip()
        )
    return done.stdout


def print_all(paths: Iterable[Path]) -> int:
    """The main program of a module that makes files: print each path once it exists, and return the exit status. A
    ToolError is printed to stderr and ends the loop."""
    try:
        for path in paths:
            print(path, flush=True)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":  # python -m tools.settings pip install ...: uv, with pip's configuration
    environment = uv_environment()
    uv = tool("uv")
    if sys.argv[1] == "pip":
        sys.argv[3:3] = ["--python", sys.executable]
    os.execve(uv, [uv, *sys.argv[1:]], environment)
