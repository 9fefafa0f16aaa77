"""The audit's words: a table of libraries and a line per finding, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from tools.audit.finding import Finding
from tools.audit.wheel import LIB, Wheel

Audited = list[tuple[Wheel, list[Finding]]]


def as_table(audited: Audited) -> None:
    console = Console(highlight=False)
    for wheel, findings in audited:
        table = Table(title=f"{wheel.path.name}, {wheel.size / 1e6:.2f} MB, {len(wheel.libraries)} libraries")
        table.add_column("library", no_wrap=True)
        limit = wheel.system.library_bytes
        for column in ("bytes", f"of {limit // 1024} KB", "findings"):
            table.add_column(column, justify="right", no_wrap=True)
        for library in wheel.libraries:
            size = len(library.data)
            here = len([f for f in findings if f.where == library.member and not f.note])
            shown = f"[red]{here}[/]" if here else "[green]0[/]"
            table.add_row(library.member.removeprefix(f"{LIB}/"), str(size), f"{size / limit:.0%}", shown)
        console.print(table)
        for finding in findings:
            word = "note   " if finding.note else "FINDING"
            where = f"{finding.where.removeprefix(f'{LIB}/')}: " if finding.where else ""
            console.print(f"{word} {finding.check}: {where}{finding.text}", markup=False, soft_wrap=True)
        bad = sum(not finding.note for finding in findings)
        verdict = f"{bad} findings" if bad != 1 else "1 finding"
        console.print(f"{wheel.path.name}: {verdict if bad else 'all of it holds'}", markup=False, soft_wrap=True)


def as_json(audited: Audited) -> None:
    document = [
        {
            "wheel": wheel.path.name,
            "size": wheel.size,
            "platform": wheel.platform,
            "good": all(finding.note for finding in findings),
            "libraries": [
                {"file": library.member, "row": library.row, "backend": library.backend, "size": len(library.data)}
                for library in wheel.libraries
            ],
            "findings": [asdict(finding) for finding in findings],
        }
        for wheel, findings in audited
    ]
    print(json.dumps(document, indent=1))
