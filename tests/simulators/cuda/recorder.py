"""For the process under test: which functions of the simulated CUDA were called."""

from __future__ import annotations

from tests.simulators.record import Record

_RECORD = Record("cuda", "CUDA")

simulated = _RECORD.simulated
reset = _RECORD.reset
calls = _RECORD.calls
