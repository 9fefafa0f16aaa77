"""Print the result of an audit: a table of libraries and a line per finding, or JSON."""

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
        limit = wheel.system.max_library_bytes
        for column in ("bytes", f"of {limit // 1024} KB", "problems"):
            table.add_column(column, justify="right", no_wrap=True)
        for library in wheel.libraries:
            size = len(library.data)
            count = len([f for f in findings if f.where == library.member and not f.note])
            shown = f"[red]{count}[/]" if count else "[green]0[/]"
            table.add_row(library.member.removeprefix(f"{LIB}/"), str(size), f"{size / limit:.0%}", shown)
        console.print(table)
        for finding in findings:
            kind = "note   " if finding.note else "PROBLEM"
            where = f"{finding.where.removeprefix(f'{LIB}/')}: " if finding.where else ""
            console.print(f"{kind} {finding.check}: {where}{finding.text}", markup=False, soft_wrap=True)
        problems = sum(not finding.note for finding in findings)
        verdict = f"{problems} {'problem' if problems == 1 else 'problems'} found" if problems else "no problem found"
        console.print(f"{wheel.path.name}: {verdict}", markup=False, soft_wrap=True)


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
