"""The test sessions: which tests run on which CPython, torch, processor and neighbours."""

from __future__ import annotations

from tools import matrix
from tools.build import zig
from tools.testing.run import HERE, Session

TVM_FFI = "apache-tvm-ffi>=0.1.15"
OLDEST_TVM_FFI = "apache-tvm-ffi==0.1.4"  # the last that looks for the legacy integer; the next looks for the capsule
FIRST_WITH_CAPSULE = "apache-tvm-ffi==0.1.5"
PEER = "torch-c-dlpack-ext==0.1.5"
INTEGRATION = ("tests/integration",)
WITH_TVM_FFI = ("tests/integration/test_tvm_ffi.py",)
BESIDE_PEER = ("tests/integration/test_beside_the_peer.py", *WITH_TVM_FFI)
CONTRACT = "tests/integration/contract"
CORE = (CONTRACT, *WITH_TVM_FFI, "tests/integration/test_loaded.py")
MIDDLE = "3.11"
# On other CPythons: the integration tests, but for those of the simulators and of compiling.
EVERYWHERE = (*CORE, "tests/integration/test_autoload.py", "tests/integration/test_torch_world.py")
OURS = ("--table", "dlx")  # pytest's words for prefer="dlx"

# No torch; the oldest CPython too.
UNIT = [Session(f"unit tests, CPython {v}", ("tests/unit",), python=v, extras=()) for v in (HERE, "3.9")]
# What ./dev is made of, in a Python that ./dev runs on, and what rich, requests and scikit-build-core require. zig
# compiles libraries for macOS and Windows, to be audited.
NETWORK = ("requests", "urllib3", "certifi", "idna", "charset-normalizer")
BUILD = ("scikit-build-core", "pathspec", zig.REQUIREMENT)
TOOLS_NEED = ("abi3info", "lief", "packaging", "rich", "markdown-it-py", "mdurl", *BUILD, *NETWORK)
TOOLS = [Session("tests of the tools", ("tests/tools",), python=HERE, extras=TOOLS_NEED)]
NEIGHBOURS = [
    Session("torch 2.9.1, tvm-ffi of the integer", WITH_TVM_FFI, "2.9.1", extras=(OLDEST_TVM_FFI,)),
    Session("torch 2.9.1, first tvm-ffi of the capsule", WITH_TVM_FFI, "2.9.1", extras=(FIRST_WITH_CAPSULE,)),
    # There `import tvm_ffi` dies without ours: the peer has no library for this C++ ABI.
    Session("torch 2.6.0 and torch-c-dlpack-ext", BESIDE_PEER, "2.6.0", extras=(TVM_FFI, PEER)),
]
ASCEND = tuple(f"tests/integration/test_{it}.py" for it in ("torch_npu", "simulated_ascend", "loaded"))
NPU_NEEDS = (TVM_FFI, "pyyaml")
# torch_npu on a simulated CANN: our variant below torch 2.10, our overlay from there on.
NPU = [
    Session(f"torch {release}, torch_npu {release}", ASCEND, release, extras=(*NPU_NEEDS, f"torch_npu=={release}"))
    for release in ("2.9.1", "2.13.0")
]
MORE_NPU = [
    Session(f"torch {torch}, torch_npu {npu}", ASCEND, torch, extras=(*NPU_NEEDS, f"torch_npu=={npu}"))
    for torch, npu in (("2.7.1", "2.7.1"), ("2.10.0", "2.10.0"), ("2.11.0", "2.11.0"), ("2.12.0", "2.12.0"))
]
# The wheel that passed above, unchanged, on other CPythons: with the torch they share, and 3.14 with its first.
PYTHONS = [Session(f"same wheel, CPython {v}", CORE, "2.5.1", v, (TVM_FFI,)) for v in ("3.9", "3.11", "3.12", "3.13")]
PYTHONS += [Session("same wheel, CPython 3.14", CORE, "2.9.1", "3.14", (TVM_FFI,))]
SANITIZED = Session("torch 2.9.1, ASan and UBSan", (CONTRACT,), "2.9.1", extras=(TVM_FFI,), sanitize=True)


def integration(torch: str, python: str | None, tests: tuple[str, ...] = INTEGRATION) -> list[Session]:
    """The sessions of one torch release, on a chosen CPython if need be: by default, and where torch has a table of its
    own and a row of ours, with ours preferred too. The contract is asked of our table only."""
    name = f"torch {torch}" + (f", CPython {python}" if python else "")
    if not any(row.serves == "prefer" and torch.startswith(f"{row.torch}.") for row in matrix.read().rows.values()):
        return [Session(name, tests, torch, python, (TVM_FFI,))]
    return [
        Session(name, tuple(it for it in tests if it != CONTRACT), torch, python, (TVM_FFI,)),
        Session(f"{name}, prefer=dlx", CORE, torch, python, (TVM_FFI,), arguments=OURS),
    ]


def every_row() -> list[Session]:
    """Those of each row's torch, on every CPython that CI takes for it."""
    wanted = [(it["torch"], it["python"]) for it in matrix.tested(matrix.read())]
    return [
        session
        for torch, python in wanted
        for session in integration(torch, python, INTEGRATION if python == MIDDLE else EVERYWHERE)
    ]


def emulated(arch: str) -> list[Session]:
    """For another processor than this machine's: torch without a table, of either C++ ABI as PyPI's wheels for aarch64
    have it, and torch with one. None of them has CUDA."""
    each = [("2.4.1", "", ()), ("2.9.1", "", ()), ("2.10.0", ", prefer=dlx", OURS)]
    return [Session(f"{arch}, torch {t}{x}", CORE, t, "3.11", (TVM_FFI,), arguments=a, arch=arch) for t, x, a in each]


STANDARD = [one for torch in ("2.5.1", "2.9.1", "2.13.0") for one in integration(torch, None)]
