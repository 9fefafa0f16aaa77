"""Check a wheel before anybody installs it: ./dev audit. No code of the wheel runs, so it may be for any processor."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tools.audit import archive_checks, library_checks, macos_checks, manifest_checks, report, torch_checks
from tools.audit.finding import Finding
from tools.audit.sdk_symbols import Sdks
from tools.audit.wheel import Wheel, read

Check = Callable[[Wheel], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    archive_checks.tag,
    archive_checks.top_level,
    archive_checks.wheel_size,
    archive_checks.licences,
    archive_checks.record,
    manifest_checks.manifest,
    manifest_checks.variants_toml,
    manifest_checks.complete,
    manifest_checks.reachable,
    library_checks.readable,
    library_checks.library_size,
    library_checks.needed,
    library_checks.search_path,
    library_checks.exports,
    library_checks.symbol_versions,
    library_checks.stable_abi,
    library_checks.locks,
    library_checks.unused_symbols,
    library_checks.relro,
    library_checks.build_paths,
    macos_checks.oldest_macos,
    macos_checks.signed,
    torch_checks.cxx_abi,
)


def audit(wheel: Wheel, sdks: Sdks, *, whole: bool = False) -> list[Finding]:
    """The findings of all checks. With `whole`, the check `complete` gives a problem instead of a note."""
    findings = [replace(finding, check=check.__name__) for check in CHECKS for finding in check(wheel)]
    for check in (torch_checks.torch_symbols, torch_checks.system_symbols):
        findings += [replace(finding, check=check.__name__) for finding in check(wheel, sdks)]
    return [replace(f, note=False) if whole and f.check == "complete" else f for f in findings]


def main(options: argparse.Namespace) -> int:
    sdks = Sdks(_sdk_folder)
    audited = [(wheel, audit(wheel, sdks, whole=options.whole)) for wheel in map(read, options.wheels)]
    show = report.as_json if options.json else report.as_table
    show(audited)
    return 1 if any(not finding.note for _, findings in audited for finding in findings) else 0


def _sdk_folder(release: str, processor: str) -> Path:
    from tools.sdk import fetch  # here: only the command, not the audit itself, downloads SDKs

    return fetch.fetch(release, processor) / "torch"
