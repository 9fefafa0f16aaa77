"""The command `dlx-torch`, also `python -m dlx_torch_ext`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code (argparse ends the process with 2 for a wrong one)."""
    parser = argparse.ArgumentParser(prog="dlx-torch", description="The DLPack C exchange API for every PyTorch.")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser(
        "doctor",
        help="say whose table torch.Tensor has, and why",
        epilog="exit codes: 0 a table is in use, 1 none is, 2 wrong usage, 3 the self-test failed",
    )
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.add_argument("--selftest", action="store_true", help="also try the table, in a child process")
    commands.add_parser("list", help="list the libraries of this installation and mark the one that fits")
    options = parser.parse_args(arguments)
    if options.command == "doctor":
        from ._doctor import run

        return run(as_json=options.json, selftest=options.selftest)
    from ._list import run as run_list

    return run_list()
