"""libFuzzer on the five functions: some processes that share a corpus, each a Python with torch and the target."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.sources import COUNTED
from tools.fuzz import build
from tools.fuzz.clang import Clang
from tools.settings import ROOT
from tools.testing.environments import Environment

# What a process allocates at most at once: AddressSanitizer would mark hundreds of megabytes, and nothing new is seen.
_LARGEST_MB = 100


@dataclass
class Result:
    """What the processes have done. `findings`: files with an input that ended a process, and what it said."""

    inputs: int = 0
    seconds: float = 0.0
    counts: dict[str, tuple[int, int]] = field(default_factory=lambda: dict.fromkeys(COUNTED, (0, 0)))
    findings: list[tuple[Path, str]] = field(default_factory=list)
    problem: str = ""


@dataclass(frozen=True)
class Room:
    """The folders of ./dev fuzz."""

    folder: Path

    def __post_init__(self) -> None:
        for part in (self.corpus, self.findings):
            part.mkdir(parents=True, exist_ok=True)

    @property
    def corpus(self) -> Path:
        return self.folder / "corpus"

    @property
    def findings(self) -> Path:
        return self.folder / "findings"


def run(
    clang: Clang, environment: Environment, library: Path, room: Room, *, seconds: int, jobs: int, seed: int
) -> Result:
    """Run `jobs` processes for `seconds`, after what it takes to import torch under the sanitizers. `library` is one of
    build.fuzzed_library()."""
    target, libfuzzer = build.target(clang, room.folder), build.libfuzzer(clang, room.folder)
    variables = _variables(clang, environment, library, libfuzzer)
    started = []
    for number in range(jobs):
        counts, log = room.folder / f"counts-{number}", room.folder / f"log-{number}"
        counts.unlink(missing_ok=True)
        command = [str(environment.python), "-m", "tests.fuzz.guided", str(target), str(counts)]
        command += [*_options(room, seconds, seed + number), str(room.corpus)]
        with log.open("w") as output:
            process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=subprocess.STDOUT)
        started.append((process, counts, log))
    result = Result()
    for process, counts, log in started:
        process.wait()
        _add(result, process.returncode, counts, log.read_text(encoding="utf-8", errors="replace"))
    return result


def _options(room: Room, seconds: int, seed: int) -> list[str]:
    return [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        "-max_len=512",
        "-entropic=0",  # it costs a quarter of the speed
        "-rss_limit_mb=0",  # torch alone takes a gigabyte under the sanitizers
        "-malloc_limit_mb=1000000",
        "-reload=10",  # take over what the other processes have found
        "-print_final_stats=1",
        f"-artifact_prefix={room.findings}/",
    ]


def _variables(clang: Clang, environment: Environment, library: Path, libfuzzer: Path) -> dict[str, str]:
    asan = clang.runtime("libclang_rt.asan")
    libstdcxx = clang.library("libstdc++.so.6")
    asan_options = [
        "detect_leaks=0",  # CPython never frees everything
        "protect_shadow_gap=0",
        "allocator_may_return_null=1",
        f"max_allocation_size_mb={_LARGEST_MB}",
        "malloc_context_size=5",
        "handle_abort=1",
        "verify_asan_link_order=0",  # libFuzzer comes first: see build.libfuzzer
    ]
    variables = environment.variables(
        PYTHONPATH=str(ROOT / "python"),
        PYTHONMALLOC="malloc",  # so that ASan sees each object of Python
        PYTHONDONTWRITEBYTECODE="1",
        DLX_TORCH_LIBRARY=str(library),
        LD_PRELOAD=" ".join(map(str, (libfuzzer, asan, libstdcxx))),
        ASAN_OPTIONS=":".join(asan_options),
        ASAN_SYMBOLIZER_PATH=clang.tool("llvm-symbolizer"),
        UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1",
    )
    folders = [variables.get("LD_LIBRARY_PATH", ""), str(asan.parent), str(clang.libraries or "")]
    return {**variables, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))}


def _add(result: Result, status: int, counts: Path, log: str) -> None:
    """Add what one process has done."""
    if found := re.search(r"Test unit written to (\S+)", log):
        said = re.search(r"^(?:tests/fuzz/|cpp/).*|^SUMMARY: .*", log, re.MULTILINE)
        result.findings.append((Path(found[1]), said[0] if said else log[-400:]))
    if done := re.search(r"^Done (\d+) runs in (\d+) second", log, re.MULTILINE):
        result.inputs += int(done[1])
        result.seconds = max(result.seconds, float(done[2]))
    elif not found:
        result.problem = f"a process of libFuzzer ended with status {status}:\n{log[-2000:].rstrip()}"
    if counts.exists():
        for name, line in zip(COUNTED, counts.read_text().splitlines()):
            calls, accepted = map(int, line.split())
            before = result.counts[name]
            result.counts[name] = (before[0] + calls, before[1] + accepted)
