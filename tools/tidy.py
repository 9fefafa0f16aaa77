"""clang-tidy for ./dev lint: the commands that run it on every file of cpp/src, and whether they have to run.

clang-tidy reads the files with the compiler options of one row. For those options the row's SDK is downloaded and CMake
configures the row in a build folder of ./dev. Nothing is compiled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from pathlib import Path

from tools.build import one_row
from tools.build.wheel import build_dir
from tools.settings import ROOT, machine, tool

# What the verdict depends on: the sources, how they are compiled, the checks, and the program's version.
_INPUTS = ("CMakeLists.txt", "cmake", "cpp", "variants.toml", ".clang-tidy", "pyproject.toml")


def commands() -> list[list[str]]:
    """One command for each file, so that they can run side by side; none where the same sources have passed before."""
    if _stamp().is_file() and _stamp().read_text(encoding="utf-8") == _digest():
        return []
    folder = one_row.configure("tidy")
    database = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    files = dict.fromkeys(it["file"] for it in database if Path(it["file"]).is_relative_to(ROOT / "cpp"))
    return [[tool("clang-tidy"), "--quiet", "-p", str(folder), file] for file in files]


def passed() -> None:
    """Remember that there was no finding in the sources as they are."""
    _stamp().parent.mkdir(parents=True, exist_ok=True)
    _stamp().write_text(_digest(), encoding="utf-8")


def findings(output: str) -> str:
    """The findings of clang-tidy, each once: it repeats those of a header for every file that includes it. Paths are
    relative to the checkout."""
    blocks: list[list[str]] = [[]]
    for line in output.splitlines():
        if re.match(r"\S+:\d+:\d+: (error|warning): |(error|warning): ", line):
            blocks.append([])
        if not re.match(r"\[\d+/\d+\]", line):
            blocks[-1].append(line.replace(f"{ROOT}{os.sep}", ""))
    return "\n".join(dict.fromkeys("\n".join(block) for block in blocks if block))


def _digest() -> str:
    sha256 = hashlib.sha256()
    for name in _INPUTS:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                sha256.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return sha256.hexdigest()


def _stamp() -> Path:
    return build_dir("tidy", machine()) / f"passed-{os.path.basename(sys.prefix)}"
