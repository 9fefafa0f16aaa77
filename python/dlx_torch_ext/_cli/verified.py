"""Prints the result of `dlx-torch verify`: a table with a row for each check and a column for each device."""

from __future__ import annotations

from typing import Any

from .screen import Screen

_CELLS = {"failed": "FAILED", "left out": "-"}
_STYLES = {True: "good", False: "bad"}


def show(result: dict[str, Any]) -> None:
    screen, checks = Screen(), result["checks"]
    verdict = "the streams are right" if result["passed"] else "FAILED"
    screen.text(f"{verdict}: {_count(checks)}", _STYLES[result["passed"]])
    for label in ("torch", "python", "platform", "backend", "table"):
        screen.row(label, result.get(label, ""))
    screen.row("runtime", ", ".join(f"{key} {value}" for key, value in result.get("runtime", {}).items()))
    for name, model in result.get("devices", {}).items():
        screen.row(name, model)
    _table(checks, screen)
    screen.blank()
    for check in checks:
        if check["detail"]:
            where = f"{check['device']}, {check['check']}, table {check['table']}"
            style = "bad" if check["verdict"] == "failed" else ""
            screen.text(f"{check['verdict']}: {where}: {check['detail']}", style)
    if result["end"] != "done":
        screen.text(f"FAILED: {result['detail']}", "bad")
    screen.show()


def _count(checks: list[dict[str, str]]) -> str:
    verdicts = [check["verdict"] for check in checks]
    return f"{verdicts.count('ok')} checks passed, {verdicts.count('failed')} failed"


def _table(checks: list[dict[str, str]], screen: Screen) -> None:
    cells = {(check["check"], check["device"], check["table"]): check["verdict"] for check in checks}
    columns = list(dict.fromkeys((device, table) for _, device, table in cells))
    rows = list(dict.fromkeys(name for name, _, _ in cells))
    if not rows:
        return
    width = max(map(len, rows)) + 2
    screen.blank()
    screen.text("".ljust(width) + "  ".join(f"{device} {table}".ljust(12) for device, table in columns), "label")
    for row in rows:
        words = (cells.get((row, *column), "") for column in columns)
        screen.text(row.ljust(width) + "  ".join(_CELLS.get(word, word).ljust(12) for word in words))
