"""The test sessions: which tests run with which CPython, torch, processor and other packages."""

from __future__ import annotations

from dataclasses import replace

from tools import matrix
from tools.build import zig
from tools.testing.run import THIS_PYTHON, Session
from tools.testing.sanitizers import ADDRESS, THREAD

TVM_FFI = "apache-tvm-ffi>=0.1.15"
OLDEST_TVM_FFI = (
    "apache-tvm-ffi==0.1.4"  # the last that reads the address from an integer attribute; later ones read the capsule
)
FIRST_WITH_CAPSULE = "apache-tvm-ffi==0.1.5"
PEER = "torch-c-dlpack-ext==0.1.5"
INTEGRATION = ("tests/integration",)
WITH_TVM_FFI = ("tests/integration/test_tvm_ffi.py",)
BESIDE_PEER = ("tests/integration/test_beside_the_peer.py", *WITH_TVM_FFI)
CONTRACT = "tests/integration/contract"
KIT = "tests/integration/kit"
CORE = (CONTRACT, *WITH_TVM_FFI, "tests/integration/test_loaded.py", "tests/integration/test_probe.py")
MIDDLE_PYTHON = "3.11"
# The tests for other CPythons: the integration tests without those of the simulators and of compiling.
ON_OTHER_PYTHONS = (*CORE, "tests/integration/test_autoload.py", "tests/integration/test_torch_world.py")
# Without those that only compile, and those about forks and other interpreters.
KIT_IN_PROCESS = tuple(
    f"{KIT}/test_{name}.py" for name in ("arguments", "checks", "dlpack_method", "memory", "probe", "tables")
)
WITHOUT_GIL = (*(test for test in CORE if test not in WITH_TVM_FFI), *KIT_IN_PROCESS)
PREFER_DLX = ("--table", "dlx")  # pytest's options for prefer="dlx"

# Without torch, on the oldest CPython; with --all on this one, too.
UNIT, MORE_UNIT = (
    [Session(f"unit tests, CPython {v}", ("tests/unit",), python=v, extras=())] for v in ("3.9", THIS_PYTHON)
)
# The packages that the tools import, and those that rich, requests and scikit-build-core require. The tests of the
# audit compile libraries for macOS and Windows with zig.
REQUESTS_NEEDS = ("requests", "urllib3", "certifi", "idna", "charset-normalizer")
BUILD_NEEDS = ("scikit-build-core", "pathspec", zig.REQUIREMENT)
TOOLS_NEED = (
    "abi3info",
    "deflate",
    "lief",
    "packaging",
    "rich",
    "markdown-it-py",
    "mdurl",
    *BUILD_NEEDS,
    *REQUESTS_NEEDS,
)
TOOLS = [Session("tests of the tools", ("tests/tools",), python=THIS_PYTHON, extras=TOOLS_NEED)]
NEIGHBOURS = [
    Session("torch 2.9.1, last tvm-ffi that reads the integer", WITH_TVM_FFI, "2.9.1", extras=(OLDEST_TVM_FFI,)),
    Session(
        "torch 2.9.1, torch-c-dlpack-ext and the first tvm-ffi that reads the capsule",
        BESIDE_PEER,
        "2.9.1",
        extras=(FIRST_WITH_CAPSULE, PEER),
    ),
    # Without our package `import tvm_ffi` crashes here: torch-c-dlpack-ext has no library for this C++ ABI.
    Session("torch 2.6.0 and torch-c-dlpack-ext", BESIDE_PEER, "2.6.0", extras=(TVM_FFI, PEER)),
]
ON_NPU = ("torch_npu", "simulated_ascend", "loaded", "verify_npu")
NPU_NEEDS = (TVM_FFI, "pyyaml")


def on_npu(torch: str, *files: str) -> Session:
    """On a simulated CANN: with our variant up to torch 2.9, with our overlay from 2.10 on."""
    tests = tuple(f"tests/integration/test_{name}.py" for name in files)
    return Session(f"torch {torch}, torch_npu {torch}", tests, torch, extras=(*NPU_NEEDS, f"torch_npu=={torch}"))


NPU = [on_npu("2.9.1", *ON_NPU[:-1]), on_npu("2.13.0", *ON_NPU)]
# The doctor's look at a table of torch_npu's own takes minutes: it imports torch_npu many times.
MORE_NPU = [on_npu(torch, *ON_NPU) for torch in ("2.7.1", "2.10.0", "2.11.0", "2.12.0")]
MORE_NPU += [on_npu("2.9.1", "torch_npu_tables", "verify_npu"), on_npu("2.13.0", "torch_npu_tables")]
# The same wheel on other CPythons: with torch 2.5.1, which all of them but 3.14 have, and on 3.14 with torch 2.9.1. The
# newest each time, and the oldest with torch 2.5.1; --all has those between.
PYTHONS = [Session("same wheel, CPython 3.14", CORE, "2.9.1", "3.14", (TVM_FFI,))]
MORE_PYTHONS = [Session(f"same wheel, CPython {v}", CORE, "2.5.1", v, (TVM_FFI,)) for v in ("3.10", "3.12", "3.13")]
# What is broken on purpose: ./dev faults runs these alone, ./dev test with the other tests.
FAULTS = [
    Session("faults without torch", ("tests/unit",), python=THIS_PYTHON, arguments=("-m", "fault")),
    Session("faults, torch 2.9.1", ("tests/integration/faults",), "2.9.1", extras=(TVM_FFI,)),
]
# What the projects of examples/ are built with.
BINDINGS = ("cython>=3.1", "nanobind>=2.4", "pybind11>=2.12")


def examples(torch: str) -> Session:
    tests = ("tests/integration/test_examples.py",)
    return Session(f"torch {torch}, examples", tests, torch, MIDDLE_PYTHON, (TVM_FFI, *BINDINGS))


# Built once for each CPython, and the same binaries on each torch.
EXAMPLES = [examples("2.9.1")]
MORE_EXAMPLES = [examples("2.5.1"), examples("2.13.0")]
# The example in C is built once, by whichever session is first: one file for all of these and for
# those above, as its digest shows.
ONE_BINARY = [
    Session(
        f"one binary, torch {torch}, CPython {python}",
        ("tests/integration/test_examples.py",),
        torch,
        python,
        (TVM_FFI,),
        arguments=("-k", "one_binary"),
    )
    for torch, python in (
        ("2.4.1", "3.10"),
        ("2.5.1", "3.13"),
        ("2.9.1", "3.13"),
        ("2.13.0", "3.10"),
        ("2.15.0", "3.13"),
    )
]
# A framework with a table of its own beside torch, and what it requires.
PADDLE = [
    Session(
        "torch 2.9.1, paddle",
        ("tests/integration/kit/test_paddle.py",),
        "2.9.1",
        MIDDLE_PYTHON,
        (
            TVM_FFI,
            "paddlepaddle>=3.3",
            *("httpx", "httpcore", "h11", "anyio", "sniffio", "idna", "certifi"),
            *("protobuf", "pillow", "opt_einsum==3.3.0", "safetensors"),
        ),
    )
]
# Libraries that may read the table, and what they require.
READERS = {
    "apache-tvm": ("apache-tvm>=0.27", TVM_FFI, "ml_dtypes"),
    "CuTe DSL": (
        TVM_FFI,
        *(f"nvidia-cutlass-dsl{part}==4.8.1" for part in ("", "-libs-base", "-libs-core", "-libs-cu12")),
        *("cuda-bindings>=12.8", "cuda-pathfinder"),
    ),
    "TileLang": (
        *("tilelang==0.1.15", "apache-tvm-ffi==0.1.12", "z3-solver==4.15.4"),
        *("cloudpickle", "ml_dtypes", "psutil", "tqdm", "typing_extensions"),
    ),
}
READ = [
    Session(f"torch 2.9.1, {name}", ("tests/integration/test_readers.py",), "2.9.1", MIDDLE_PYTHON, extras)
    for name, extras in READERS.items()
]
# What packs apps, and what that requires.
PACKERS = ("pyinstaller>=6.11", "pyinstaller-hooks-contrib", "altgraph", "packaging", "pex>=2.60")
PACKED = [Session("torch 2.9.1, packed apps", ("tests/integration/test_packed.py",), "2.9.1", extras=PACKERS)]
# ThreadSanitizer does not survive a fork, so its tests run in one process.
THREADED = tuple(f"{CONTRACT}/test_{name}.py" for name in ("threads", "deleter_threads", "cuda_first_allocation"))
SANITIZED = {
    ADDRESS: Session(
        "torch 2.9.1, ASan and UBSan", (CONTRACT, *KIT_IN_PROCESS), "2.9.1", extras=(TVM_FFI,), sanitize=ADDRESS
    ),
    THREAD: Session(
        "torch 2.9.1, TSan", THREADED, "2.9.1", extras=(TVM_FFI,), sanitize=THREAD, arguments=("--inline", "-s")
    ),
}


def integration(torch: str, python: str | None, tests: tuple[str, ...] = INTEGRATION) -> list[Session]:
    """The sessions of one torch release, on that CPython or, with None, on a suitable one: a session with default
    settings and, where torch has a table of its own and there is a row of ours, one with prefer="dlx". Only that one
    has the tests of the contract then; the other says that it leaves them out."""
    name = f"torch {torch}" + (f", CPython {python}" if python else "")
    if python and python.endswith("t"):
        return [Session(name, WITHOUT_GIL, torch, python)]  # tvm-ffi has no wheel for it
    if not any(row.serves == "prefer" and torch.startswith(f"{row.torch}.") for row in matrix.read().rows.values()):
        return [Session(name, tests, torch, python, (TVM_FFI,))]
    return [
        Session(name, tests, torch, python, (TVM_FFI,)),
        Session(f"{name}, prefer=dlx", CORE, torch, python, (TVM_FFI,), arguments=PREFER_DLX),
    ]


def every_row() -> list[Session]:
    """The sessions of each row's torch, on every CPython that CI tests it with."""
    pairs = [(pair["torch"], pair["python"]) for pair in matrix.tested(matrix.read())]
    return [
        session
        for torch, python in pairs
        for session in integration(torch, python, INTEGRATION if python == MIDDLE_PYTHON else ON_OTHER_PYTHONS)
    ]


def emulated(arch: str) -> list[Session]:
    """The sessions for another processor than this machine's: a torch without a table of its own for each C++ ABI that
    PyPI's wheels for aarch64 have, and a torch with one. None of them has CUDA."""
    return [
        Session(f"{arch}, torch {torch}{suffix}", CORE, torch, "3.11", (TVM_FFI,), arguments=arguments, arch=arch)
        for torch, suffix, arguments in (
            ("2.4.1", "", ()),
            ("2.9.1", "", ()),
            ("2.10.0", ", prefer=dlx", PREFER_DLX),
        )
    ]


def quick(session: Session) -> Session:
    """The session without the tests that take minutes: the kit's, and those that compile something."""
    return replace(session, arguments=(*session.arguments, *(f"--ignore={test}" for test in _MINUTES)))


_MINUTES = tuple(
    f"tests/integration/{name}"
    for name in (
        "kit",
        "test_attach_within.py",
        "test_build.py",
        "test_examples.py",
        "test_torch_world.py",
        "test_verify.py",
    )
)

# 2.9.1 has all tests, those of the examples in a session of their own; with --all each torch has them.
WHOLE = [replace(one, arguments=("--ignore=tests/integration/test_examples.py",)) for one in integration("2.9.1", None)]
STANDARD = [*WHOLE, *map(quick, [*integration("2.5.1", "3.9"), *integration("2.13.0", None)])]
FREE_THREADED = integration("2.9.1", "3.13t")
