"""The doctor's report as text: what a person needs on one screen of 80 columns, or everything with --all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .._resolve import LIBRARY_VARIABLE
from .._settings import VARIABLES, Settings
from .screen import Screen

# The names of libraries have these words, which nobody outside knows.
LEGEND = "cxx11, cxx98: the newer and the older C++ ABI (torch.compiled_with_cxx11_abi())"

Report = dict[str, Any]


def write(report: Report, screen: Screen, everything: bool = False) -> None:
    """Writes the report to `screen`. With `everything`, also each function of the table and each library that was
    passed over, with the reason."""
    _verdict(report, screen)
    screen.blank()
    _facts(report, screen)
    screen.blank()
    _table(report, screen, everything)
    _decision(report, screen, everything)
    if report["selftest"] is not None:
        word = {True: "passed", False: "FAILED", None: "not run"}[report["selftest"]["ok"]]
        screen.blank()
        screen.text(f"self-test {word}: {report['selftest']['detail']}", "bad" if word == "FAILED" else "")
    ids = " ".join(dict.fromkeys(problem["id"] for problem in report["problems"]))
    if ids:
        screen.blank()
        screen.text(f"more about {ids}: dlx-torch explain ID")


def _verdict(report: Report, screen: Screen) -> None:
    failed = report["selftest"] is not None and report["selftest"]["ok"] is False
    style = "bad" if failed or not report["in_use"] else "careful" if report["findings"] else "good"
    screen.text(f"dlx-torch: {report['verdict']}", style)
    for finding in report["findings"]:
        screen.text(f"warning: {finding}", "careful")


def _facts(report: Report, screen: Screen) -> None:
    facts = report["facts"]
    if facts["torch"] is None:
        screen.row("torch", "cannot be used" if facts["torch_path"] else "not installed")  # the verdict says why
    else:
        screen.row("torch", f"{facts['torch']}, built for {facts['build']}, {_cxx11_abi(facts['cxx11_abi'])}")
        if facts["torch_problem"] and facts["torch_problem"] not in report["verdict"]:
            screen.row("", facts["torch_problem"])
    screen.row("", facts["torch_path"] or "")
    _torch_npu(report, screen)
    screen.row("dlx-torch-ext", report["version"])
    screen.row("", report["path"])
    threads = ", free-threaded" if facts["free_threaded"] else ""
    screen.row("python", f"{facts['implementation']} {facts['python']}{threads} on {facts['platform']}")
    screen.row("", facts["executable"] or "")
    if facts["torch"] is not None:
        screen.row("at import", report["autoload"]["note"] or "torch called dlx-torch-ext")
    settings = _changed(report["settings"])
    screen.row("settings", settings[0] if settings else "as by default")
    for setting in settings[1:]:
        screen.row("", setting)


def _cxx11_abi(cxx11_abi: bool | None) -> str:
    return {True: "C++ ABI 1 (cxx11, the newer)", False: "C++ ABI 0 (cxx98, the older)", None: "C++ ABI unknown"}[
        cxx11_abi
    ]


def _torch_npu(report: Report, screen: Screen) -> None:
    facts = report["facts"]
    if facts["torch_npu"] is None:
        return
    loaded = "loaded" if facts["libtorch_npu_loaded"] else "not loaded"
    screen.row("torch_npu", f"{facts['torch_npu']}, libtorch_npu is {loaded}")
    waits = "waits until the host queue is empty" if report["settings"]["npu_drain"] else "does not wait"
    screen.row("", f"asking for its stream {waits} (DLX_TORCH_NPU_DRAIN)")


def _changed(settings: dict[str, Any]) -> list[str]:
    """The settings that are not as by default, as one would set them."""
    default = Settings()
    changed = {name: settings[field] for field, name in VARIABLES.items() if settings[field] != getattr(default, field)}
    return [f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in changed.items()]


def _table(report: Report, screen: Screen, everything: bool) -> None:
    """The library of the five functions, or, if they are not of one library, the functions of each."""
    libraries: dict[str | None, list[str]] = {}
    for function in report["functions"]:
        symbol = f" ({function['symbol']})" if everything and function["symbol"] else ""
        libraries.setdefault(function["library"], []).append(f"{function['function']}{symbol}")
    label = "table"
    for library, names in libraries.items():
        place = _short(library, report) if library else "an unknown library"
        if everything or len(libraries) > 1:
            screen.row(label, f"{place}: {', '.join(names)}")
        else:
            screen.row(label, place)
        label = ""


def _short(path: str, report: Report) -> str:
    """`path` from the name of the package on, if it lies in one of the two whose folders the report shows."""
    for folder in filter(None, (report["path"], report["facts"]["torch_path"])):
        if path.startswith(folder + os.sep):
            return os.path.join(os.path.basename(folder), path[len(folder) + 1 :])
    return path


def _decision(report: Report, screen: Screen, everything: bool) -> None:
    """The candidate that was taken, what ours would give in its place, and what was passed over."""
    provider, on_request = report["status"]["provider"], report["on_request"]
    accepted = [candidate for candidate in report["candidates"] if candidate["accepted"]]
    for candidate in accepted[: None if everything else 1]:
        first = "taken" if candidate["provider"] == provider else "would take"
        # A path is on the screen already, as the table or as a setting.
        known = candidate["library"] and candidate["library"] in candidate["reason"]
        screen.row(first if candidate is accepted[0] else "or else", candidate["name" if known else "reason"])
    if on_request:
        screen.row(
            "ours",
            f"{on_request} fits: with DLX_TORCH_PREFER=dlx, conjugate views, fake tensors and negative strides are"
            " one-line errors, never wrong data or a crash. README.md says what of it has been tested",
        )
    rejected = [candidate for candidate in report["candidates"] if not candidate["accepted"]]
    if everything:
        # In a healthy run nobody needs to know that there is no library of `dlx-torch build` as well.
        missing = "dlx" if report["in_use"] else None
        _passed_over([c for c in rejected if c["library"] or c["provider"] != missing], screen)
        return
    # What DLX_TORCH_LIBRARY names is no part of the installation, and a warning says why it was not taken.
    count = sum(c["library"] is not None and c["name"] not in (on_request, LIBRARY_VARIABLE) for c in rejected)
    if count:
        screen.row("passed over", f"{_others(count, provider, bool(accepted))} (--all)")


def _others(count: int, provider: str, taken: bool) -> str:
    if provider == "foreign":
        return f"{count} of ours, since that table is left alone"
    one, many = ("other", "others") if taken else ("library", "libraries")
    return f"1 {one} does not fit" if count == 1 else f"{count} {many} do not fit"


def _passed_over(candidates: Iterable[dict[str, Any]], screen: Screen) -> None:
    reasons: dict[str, list[str]] = {}
    for candidate in candidates:
        reasons.setdefault(candidate["reason"], []).append(candidate["name"])
    if not reasons:
        return
    screen.blank()
    screen.text("passed over", "label")
    for reason, names in reasons.items():
        screen.text(f"{reason}:", indent=2)
        screen.text(", ".join(names), indent=6, hang=0)
    screen.blank()
    screen.text(LEGEND)
