"""What all tests share: the option for the table under test, forks for tests that may crash, and what is left out."""

from __future__ import annotations

import os

import pytest

pytest_plugins = ["tests.support.faults", "tests.support.left_out", "tests.support.process.marker"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--table",
        choices=["dlx", "upstream", "peer"],
        help="the table under test: ours (the default below torch 2.10), torch's own, or torch-c-dlpack-ext's",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Through the environment, so that child processes see it; before any test module imports torch."""
    table = config.option.table
    if table is None:
        return
    os.environ["DLX_TEST_TABLE"] = table
    if table == "dlx":
        os.environ["DLX_TORCH_PREFER"] = "dlx"
    else:
        os.environ["DLX_TORCH_DISABLE"] = "1"


def pytest_report_header() -> str:
    return f"table under test: {os.environ.get('DLX_TEST_TABLE', 'dlx, where torch has none')}"
