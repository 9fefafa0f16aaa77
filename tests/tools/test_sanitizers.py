"""How ./dev test starts a process under a sanitizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.testing import plan, sanitizers


@pytest.mark.parametrize("kind", plan.SANITIZED)
def test_the_runtimes_of_the_compiler_come_first(kind: str) -> None:
    variables = sanitizers.variables(kind)
    runtimes = variables["LD_PRELOAD"].split()
    assert runtimes
    assert all(Path(runtime).is_absolute() for runtime in runtimes), f"the compiler has not all of {runtimes}"
    assert plan.SANITIZED[kind].sanitize == kind


def test_threads_are_watched_in_one_process_with_fixed_addresses() -> None:
    assert sanitizers.prefix(sanitizers.THREAD) == ["setarch", "-R"]
    assert sanitizers.prefix(sanitizers.ADDRESS) == sanitizers.prefix("") == []
    assert "--inline" in plan.SANITIZED[sanitizers.THREAD].arguments
    suppressions = sanitizers.variables(sanitizers.THREAD)["TSAN_OPTIONS"].partition("=")[2]
    assert "called_from_lib:libtorch" in Path(suppressions).read_text(encoding="utf-8")
