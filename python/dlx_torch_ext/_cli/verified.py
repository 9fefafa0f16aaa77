"""Prints the result of `dlx-torch verify`: a row for each check, a column for each device and table."""

from __future__ import annotations

from typing import Any

from .screen import Screen

_CELLS = {"failed": "FAILED", "left out": "-"}
_GAP = 2


def show(result: dict[str, Any]) -> None:
    screen, checks = Screen(), result["checks"]
    passed = result["passed"]
    counts = ", ".join(f"{sum(one['verdict'] == word for one in checks)} {word}" for word in ("ok", "failed"))
    screen.text(f"{'the streams are right' if passed else 'FAILED'}: {counts}", "good" if passed else "bad")
    for label in ("torch", "python", "platform", "backend", "table"):
        screen.row(label, result.get(label, ""))
    screen.row("runtime", ", ".join(f"{key} {value}" for key, value in result.get("runtime", {}).items()))
    for name, model in result.get("devices", {}).items():
        screen.row(name, model)
    _table(checks, screen)
    screen.blank()
    _reasons(checks, screen)
    if result["end"] != "done":
        screen.text(f"FAILED: {result['detail']}", "bad")
    screen.show()


def _table(checks: list[dict[str, str]], screen: Screen) -> None:
    """As many columns beside each other as fit."""
    cells = {(one["check"], f"{one['device']} {one['table']}"): one["verdict"] for one in checks}
    rows, columns = (list(dict.fromkeys(key[part] for key in cells)) for part in (0, 1))
    if not cells:
        return
    first, other = (max(map(len, words)) + _GAP for words in (rows, columns))
    fitting = max(1, (screen.width - first + _GAP) // other)
    for start in range(0, len(columns), fitting):
        part = columns[start : start + fitting]
        screen.blank()
        screen.text("".join(["".ljust(first), *(name.ljust(other) for name in part)]).rstrip(), "label")
        for row in rows:
            words = [cells.get((row, column), "") for column in part]
            line = "".join([row.ljust(first), *(_CELLS.get(word, word).ljust(other) for word in words)])
            screen.text(line.rstrip(), "bad" if "failed" in words else "")


def _reasons(checks: list[dict[str, str]], screen: Screen) -> None:
    """A paragraph for each reason, with all devices that have it."""
    devices: dict[tuple[str, ...], list[str]] = {}
    for one in checks:
        if one["detail"]:
            about = (one["verdict"], one["check"], one["table"], one["detail"])
            devices.setdefault(about, []).append(one["device"])
    for (verdict, check, table, detail), found in devices.items():
        words = f"{_CELLS.get(verdict, verdict)}  {', '.join(found)}, {check}, table {table}: {detail}"
        screen.text(words, "bad" if verdict == "failed" else "")
