"""The recorders of the simulators in a process where nothing is simulated."""

from __future__ import annotations

import importlib


def error_without_simulation(vendor: str) -> str:
    recorder = importlib.import_module(f"tests.simulators.{vendor}.recorder")
    assert not recorder.simulated()
    try:
        recorder.calls()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("calls() returned")
