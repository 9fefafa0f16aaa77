"""What the doctor warns of, although a table may be in use: settings that are not followed, libraries that failed, and
packages that are there twice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from .. import _api, _tvm_ffi
from .._facts import Facts
from .._resolve import LIBRARY_VARIABLE, PREFER_DLX, Rejected
from .._settings import BUILD_VARIABLES, CHOICES, DLX, OFF, ON, SWITCHES, VARIABLES, wrong_choices
from .._status import FOREIGN_IS_THERE, Status, named_library_problem
from . import npu_table, wrong_tables

PREFIX = "DLX_TORCH_"


def findings(status: Status, facts: Facts) -> Iterator[str]:
    """The warnings, a line each. None repeats the reason that the verdict gives."""
    if status.provider == "upstream":
        yield from wrong_tables.warnings(facts)
    yield from _values(os.environ)
    yield from _unknown_names(os.environ)
    yield from _another_package(status)
    if status.provider == "foreign" and facts.table is not None and facts.table.of_torch_npu:
        yield from npu_table.findings()
    yield from _named_library(status, facts)
    yield from _preference(status, facts)
    yield from _failed_libraries(status, facts)
    yield from _tvm_ffi_switches(status, os.environ)


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    """Variables whose value is not one of those they take."""
    for field, problem in wrong_choices(environment).items():
        yield problem + _nearest(environment.get(VARIABLES[field], ""), CHOICES[field])
    for name in map(VARIABLES.__getitem__, SWITCHES):
        value = environment.get(name, "")
        if value and value.strip().lower() not in (*ON, *OFF):
            yield f"{name}={value} counts as on: it takes {', '.join(ON)} or {', '.join(OFF)}"


def _unknown_names(environment: Mapping[str, str]) -> Iterator[str]:
    known = (*VARIABLES.values(), *BUILD_VARIABLES)
    for name in sorted(environment):
        # The project's own tests set DLX_TORCH_TEST_...
        if name.upper().startswith(PREFIX) and name not in known and not name.startswith(f"{PREFIX}TEST_"):
            suggestion = _nearest(name[len(PREFIX) :].upper(), [one[len(PREFIX) :] for one in known], PREFIX)
            yield f"{name}={environment[name]} is ignored, since dlx-torch-ext has no such setting{suggestion}"


def _nearest(word: str, known: Sequence[str], prefix: str = "") -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1)
    return f"; did you mean {prefix}{found[0]}?" if found else ""


def _another_package(status: Status) -> Iterator[str]:
    """Another package's table, where more is known of it than that it is there."""
    if status.provider != "foreign":
        return
    library = os.path.basename(status.library or "")
    if "c_dlpack" in library:  # torch-c-dlpack-ext brings a library of that name, and tvm-ffi compiles one
        yield (
            f"{library} hands out conjugate and negative views and fake tensors as if they were plain: to replace its"
            f" table, {PREFER_DLX}"
        )
    if status.reason.startswith(FOREIGN_IS_THERE):
        yield status.reason


def _named_library(status: Status, facts: Facts) -> Iterator[str]:
    """DLX_TORCH_LIBRARY, where that library is not the one in use."""
    path = facts.settings.library
    problem = named_library_problem(status.candidates)
    if problem and status.provider != "none":  # where there is no table, the verdict says it
        yield problem
    elif not problem and path and not os.path.exists(path):
        yield f"{LIBRARY_VARIABLE}={path} does not exist: correct it, or unset it"


def _preference(status: Status, facts: Facts) -> Iterator[str]:
    """DLX_TORCH_PREFER=dlx, where no library of ours fits."""
    if facts.settings.prefer != DLX or status.provider not in ("upstream", "foreign"):
        return
    if _api.resolve(facts).provider != "dlx":
        reason = _api.resolve(facts.replace(table=None)).reason
        yield f"{VARIABLES['prefer']}=dlx is not followed: {reason}"


def _failed_libraries(status: Status, facts: Facts) -> Iterator[str]:
    """Libraries that fit by what is known of them, and failed when they were loaded."""
    fitting = {(c.name, c.library) for c in _api.resolve(facts).accepted}
    for candidate in status.candidates:
        failed = isinstance(candidate.verdict, Rejected) and (candidate.name, candidate.library) in fitting
        if failed and candidate.name != LIBRARY_VARIABLE and candidate.verdict.reason not in status.reason:
            yield f"{candidate.name} fits and cannot be used: {candidate.verdict.reason}"


def _tvm_ffi_switches(status: Status, environment: Mapping[str, str]) -> Iterator[str]:
    """Variables of the tvm-ffi that is installed, with which it uses no table."""
    version = _tvm_ffi.installed()
    skip = _tvm_ffi.skip_variable(version)
    if version and environment.get(skip) == "1":
        yield (
            f"{skip}=1 makes tvm-ffi {version} ignore every table: calls take microseconds, conjugate views become"
            " wrong data, and of all accelerators only CUDA and ROCm give their stream: unset it"
        )
    disable = environment.get(_tvm_ffi.DISABLE_VARIABLE, "0")
    if version and disable != "0" and status.provider == "none":
        name = _tvm_ffi.DISABLE_VARIABLE
        yield f"{name}={disable} keeps tvm-ffi {version} from bringing a table of its own: unset it"
