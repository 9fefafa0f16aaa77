"""Builds, for one installed torch_npu, the folder of simulated CANN libraries that it loads."""

from __future__ import annotations

import re
from pathlib import Path

from tests.simulators import elf
from tests.simulators.vendor import Library, Vendor, shared_libraries, version_strings

ASCEND = Vendor("ascend")

RUNTIME = "libascendcl.so"  # every undefined function of torch_npu is found here, whichever library CANN has it in
OPERATORS = "libopapi.so"  # opened by name: aclnnAdd and its like, an operator each
_CANN_FUNCTION = re.compile(r"acl[A-Za-z]|rt[A-Z]|Msprof|Hccl|_ZNK?2ge")  # the last: functions of GE, up to 2.6
# Functions that torch_npu looks up by name; the names are among its strings.
_LOOKED_UP = re.compile(rb"(?<=\0)acl[A-Za-z]+[A-Z]\w+(?=\0)")
_OPERATOR = re.compile(r"aclnn|acl(Create|Destroy)(Tensor|TensorList|Scalar|ScalarList|(Int|Bool|Float)Array)$")
_ANSWERS = re.compile(r"acl(?!nn).*(Get|Query|Peek|CreateSubComm)")


def build(torch_npu_dir: Path, out: Path) -> Path:
    """Return the folder of simulated libraries for a torch_npu package folder, building it in `out` if need be.

    torch_npu is read as files, not imported. Several torch_npu installations and several processes may share `out`.
    Raises ValueError where the folder holds no torch_npu, RuntimeError where the C compiler fails.
    """
    torch_npu_dir = Path(torch_npu_dir)
    version = version_strings(torch_npu_dir, "torch_npu").get("__version__")
    files = shared_libraries(torch_npu_dir / "lib")
    return ASCEND.build(out, f"torch_npu{version}", files, lambda: wanted(files))


def wanted(files: list[Path]) -> list[Library]:
    """Return the CANN libraries that torch_npu loads, with the functions that it needs of them.

    A function that is looked up by name and returns results through pointers (Get, Query) gets no stub: it exists only
    if bodies/ defines it. A stub would not write the results. Without one, torch_npu assumes an older CANN.
    """
    # libop_plugin_atb needs libatb, which is not part of CANN, and cannot be loaded without it.
    needs = [elf.read(path) for path in files if "atb" not in path.name]
    # Unlike system libraries, CANN's have no version in their names. This matches none of torch's own.
    cann = re.compile(r"lib(acl|ascend|ge_|graph|hccl)\w*\.so")
    loaded = {name for need in needs for name in need.libraries if cann.fullmatch(name)}
    asked = {
        symbol for need in needs for symbol, library, _ in need.symbols if not library and _CANN_FUNCTION.match(symbol)
    }
    looked_up = {name.decode() for path in files for name in _LOOKED_UP.findall(path.read_bytes())} - asked
    acting = {name for name in looked_up if not _ANSWERS.match(name)}
    operators = {name for name in acting if _OPERATOR.match(name)}
    return [
        Library(RUNTIME, {None: asked | (acting - operators)}, ASCEND.sources(RUNTIME)),
        *(Library(name, {}, (), (RUNTIME,)) for name in sorted(loaded - {RUNTIME})),
        Library(OPERATORS, {None: operators}, ASCEND.sources(OPERATORS), (RUNTIME,)),
    ]
