"""Opens libraries; no other module does. Compares a library with this torch before it uses its table."""

from __future__ import annotations

import ctypes
import os

from . import _elf
from ._dlpack import FUNCTIONS, VERSION, DLPackExchangeAPI
from ._facts import Facts
from ._record import Record
from ._resolve import LIBRARY_VARIABLE, Candidate, Rejected

# DLX_TORCH_ABI, the number of the C interface in dlx/dlx_torch.h. It is not the version of the package.
INTERFACE_NUMBER = 1


class _BuildInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("backend", ctypes.c_char_p),
        ("version", ctypes.c_char_p),
        ("torch_major", ctypes.c_uint32),
        ("torch_minor", ctypes.c_uint32),
        ("cxx11_abi", ctypes.c_uint32),
        ("dlpack_major", ctypes.c_uint32),
        ("dlpack_minor", ctypes.c_uint32),
    ]


class Library(Record):
    """A library that fits. `table`: the address of its exchange table, which lives as long as the process."""

    path: str
    version: str
    table: int


# Never closed: torch.Tensor and consumers that keep the table point into these libraries.
_handles: dict[str, ctypes.PyDLL] = {}


def load(candidate: Candidate, facts: Facts) -> Library | Rejected:
    """Opens the candidate's library and compares it with `facts`. Never raises. Calls nothing of torch.

    Call it after the check of torch's layout. The library stays loaded even if it does not fit.
    """
    path = os.path.abspath(candidate.library or "")
    try:
        return _open_and_compare(path, candidate, facts)
    except FileNotFoundError:
        return Rejected(f"{path} does not exist: {_remedy(candidate)}")
    except (OSError, ValueError) as error:
        remedy = _remedy_for_noexec(path) or _remedy(candidate)
        return Rejected(f"{path} cannot be loaded ({_message(error, path)}): {remedy}")


def _open_and_compare(path: str, candidate: Candidate, facts: Facts) -> Library | Rejected:
    os.stat(path)  # raises FileNotFoundError; the loader says this in other words on each system
    if path not in _handles:
        problem = _trust_problem(path, candidate)
        if problem:
            return Rejected(f"{path} is not opened, because {problem}")
        problem = _elf.problem(path, facts.machine) if facts.system == "linux" else ""
        if problem:
            return Rejected(f"{path} is {problem}: {_remedy(candidate)}")
        _handles[path] = ctypes.PyDLL(path)
    handle = _handles[path]
    try:
        build_info = handle.dlx_torch_build_info
        make_table = handle.dlx_torch_overlay if candidate.provider == "overlay" else handle.dlx_torch_exchange_api
    except AttributeError as error:
        return Rejected(f"{path} is not a library of dlx-torch-ext ({_message(error, path)}): {_remedy(candidate)}")
    build_info.argtypes, build_info.restype = [], ctypes.c_void_p
    make_table.restype = ctypes.c_void_p
    address = build_info()
    problem = _build_info_problem(address, candidate, facts) or _exact_version_problem(handle, candidate, facts)
    if problem:
        return Rejected(f"{path} {problem}: {_remedy(candidate)}")
    table = make_table(_table_argument(candidate, facts))
    problem = _table_problem(table, candidate)
    if problem:
        return Rejected(f"{path} {problem}")
    version = _BuildInfo.from_address(address).version or b""
    return Library(path, version.decode(errors="replace"), table)


def _trust_problem(path: str, candidate: Candidate) -> str:
    """Why the file must not be opened, or "". The libraries of this installation are not looked at: who can change them
    can change the package's own modules too."""
    if not candidate.exact and candidate.name != LIBRARY_VARIABLE:
        return ""
    from . import _trust  # imported here, because most processes never need it

    return _trust.problem(path)


def _table_argument(candidate: Candidate, facts: Facts) -> ctypes.c_uint32 | ctypes.c_void_p:
    """What the library needs to make its table: the size of PyObject or, for an overlay, torch's own table."""
    if candidate.provider == "overlay":
        return ctypes.c_void_p(facts.table.address if facts.table else None)
    return ctypes.c_uint32(object.__basicsize__)


def _message(error: Exception, path: str) -> str:
    """The first line of the loader's message, without the path that it begins with."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].replace(f"{path}: ", "", 1)


def _remedy(candidate: Candidate) -> str:
    if candidate.exact:
        return "run `dlx-torch build` again"
    return f"correct {LIBRARY_VARIABLE}" if candidate.name == LIBRARY_VARIABLE else "reinstall dlx-torch-ext"


def _remedy_for_noexec(path: str) -> str:
    """What to do where `path` is on a file system that no program or library may be loaded from; "" where it is not."""
    try:
        noexec = os.statvfs(path).f_flag & os.ST_NOEXEC
    except (AttributeError, OSError):  # macOS does not tell, and Windows has neither
        return ""
    return "its file system is mounted noexec: put it on one that is not" if noexec else ""


def _build_info_problem(address: int | None, candidate: Candidate, facts: Facts) -> str:
    """Why the library whose build info is at `address` does not fit this torch, or ""."""
    if not address:
        return "does not say what it was built for"
    info = _BuildInfo.from_address(address)
    if info.struct_size < ctypes.sizeof(_BuildInfo) or info.abi != INTERFACE_NUMBER:
        return f"has interface number {info.abi}, this version of dlx-torch-ext needs {INTERFACE_NUMBER}"
    backend = (info.backend or b"").decode(errors="replace")
    if backend != candidate.backend:
        return f"was built for {backend or 'no backend'}, this torch needs {candidate.backend}"
    # The overlay uses no symbol of torch, so it fits every release line.
    if candidate.provider != "overlay":
        if (info.torch_major, info.torch_minor) != facts.line:
            return f"was built for torch {info.torch_major}.{info.torch_minor}, this is torch {facts.torch}"
        if info.cxx11_abi != facts.cxx11_abi:
            return f"was built with C++ ABI {info.cxx11_abi}, this torch has {int(bool(facts.cxx11_abi))}"
    return _dlpack_version_problem(info.dlpack_major, info.dlpack_minor)


def _exact_version_problem(handle: ctypes.PyDLL, candidate: Candidate, facts: Facts) -> str:
    """Why the library is for another version of torch, or "". Only libraries of `dlx-torch build` name one version; the
    name of their file may be wrong. Where such a library is needed, one for a whole release line does not do."""
    built_for = getattr(handle, "dlx_torch_built_for", None)
    if built_for is not None:
        built_for.argtypes, built_for.restype = [], ctypes.c_char_p
    version = (built_for() or b"").decode(errors="replace") if built_for is not None else ""
    if version and version != facts.torch:
        return f"was built for exactly torch {version}, this is torch {facts.torch}"
    if candidate.exact and not version:
        return f"was not built for exactly torch {facts.torch}"
    return ""


def _table_problem(table: int | None, candidate: Candidate) -> str:
    if not table and candidate.provider == "overlay":
        return (
            f"cannot replace functions of torch's own table, which is not of DLPack {VERSION[0]}: upgrade dlx-torch-ext"
        )
    if not table:
        return (
            f"has no table for this Python, whose PyObject has {object.__basicsize__} bytes: use a release of CPython"
        )
    api = DLPackExchangeAPI.from_address(table)
    empty = [name for name in FUNCTIONS if not getattr(api, name)]
    if empty:
        return f"has a table without {', '.join(empty)}: {_remedy(candidate)}"
    problem = _dlpack_version_problem(api.version.major, api.version.minor)
    return f"{problem}: {_remedy(candidate)}" if problem else ""


def _dlpack_version_problem(major: int, minor: int) -> str:
    if major != VERSION[0] or minor < VERSION[1]:
        return f"has DLPack {major}.{minor}, needed is {VERSION[0]}.{VERSION[1]} or a newer {VERSION[0]}.x"
    return ""
