"""Decides which table torch.Tensor gets: a pure function that gives each candidate a verdict with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Union

from ._facts import Facts
from ._record import Record
from ._settings import DLX
from ._variants import Manifest, Variant

OLDEST_LINE = (2, 4)
LIBRARY_VARIABLE = "DLX_TORCH_LIBRARY"

_REMEDY = "upgrade dlx-torch-ext, or run `dlx-torch build`"
PREFER_DLX = 'set DLX_TORCH_PREFER=dlx, or call dlx_torch_ext.attach(prefer="dlx")'


class Accepted(Record):
    """The candidate fits; `reason` says why."""

    reason: str


class Rejected(Record):
    """The candidate does not fit; `reason` says why and, if something can be done, what."""

    reason: str


Verdict = Union[Accepted, Rejected]


class Candidate(Record):
    """A table that torch.Tensor could have. `provider`: "dlx", "overlay", "upstream" or "foreign". `library`: the path
    of the library to load, or of the library that holds a table which is there already. `exact`: `dlx-torch build` made
    the library, which then must say that it is for exactly this torch."""

    name: str
    provider: str
    verdict: Verdict
    backend: str | None = None
    library: str | None = None
    exact: bool = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, {type(self.verdict).__name__.lower()}: {self.verdict.reason}>"


def why_not_used(candidate: Candidate) -> str:
    """Why a candidate that was chosen is not used after all, in one line."""
    said = " is not followed" if candidate.name == LIBRARY_VARIABLE else ""
    return f"{candidate.name}{said}: {candidate.verdict.reason}"


class Resolution(Record):
    """`candidates`, the best one first: the first accepted one is the decision. `reason`: why that one, or why none."""

    candidates: tuple[Candidate, ...]
    reason: str

    def __repr__(self) -> str:
        count = f"{len(self.candidates)} candidates, {len(self.accepted)} accepted"
        return f"<{type(self).__name__} {self.provider}: {self.reason} ({count})>"

    @property
    def accepted(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if isinstance(c.verdict, Accepted))

    @property
    def provider(self) -> str:
        return self.accepted[0].provider if self.accepted else "none"

    @property
    def variant(self) -> str | None:
        return self.accepted[0].name if self.provider in ("dlx", "overlay") else None

    @property
    def backend(self) -> str | None:
        return self.accepted[0].backend if self.accepted else None

    @property
    def library(self) -> str | None:
        return self.accepted[0].library if self.accepted else None


def resolve(facts: Facts, manifest: Manifest, built: Sequence[Variant] = ()) -> Resolution:
    """Decides, and loads no library. `built`: the libraries that the user has built for exactly this torch.

    An accepted candidate may still fail when it is loaded. Then `_attach` tries the next accepted one.
    """
    stop = _why_nothing_to_decide(facts)
    if stop:
        return Resolution((), stop)
    existing = tuple(_existing_table(facts))
    ours = (*_row_variants(facts, manifest), *_built_here(facts, built))
    ordered = ours + existing if _prefers_ours(facts) else existing + ours
    candidates = (*_named_library(facts), *_overlay_variants(facts, manifest), *ordered)
    for candidate in candidates:
        if isinstance(candidate.verdict, Accepted):
            return Resolution(candidates, candidate.verdict.reason)
    return Resolution(candidates, _why_none(facts, manifest))


def wanted_backend(facts: Facts) -> str:
    """The only backend that fits this torch: the one that it was built for, or torch_npu if that is installed on Linux.

    If a CUDA or ROCm build of torch and torch_npu are both installed, this asks for a CUDA or ROCm device. If there is
    one, it comes before the NPU: torch_npu itself refuses to be imported then. What torch.cuda says does not count.
    """
    if not facts.npu or (facts.backend in ("cuda", "rocm") and facts.cuda_active()):
        return facts.backend
    return "torch_npu"


def _why_nothing_to_decide(facts: Facts) -> str:
    if facts.settings.disable:
        return "DLX_TORCH_DISABLE is set, so nothing is attached: unset it"
    return why_unusable(facts)


def why_unusable(facts: Facts) -> str:
    """Why no library at all fits this torch and this Python, or ""."""
    if facts.torch is None:
        return facts.torch_problem
    if facts.line is not None and facts.line < OLDEST_LINE:
        return f"torch {facts.torch} is older than 2.4, the oldest that dlx-torch-ext supports: upgrade torch"
    if facts.implementation != "cpython":
        return f"{facts.implementation} is not CPython, the only Python that dlx-torch-ext supports: use CPython"
    return ""


def _prefers_ours(facts: Facts) -> bool:
    return facts.settings.prefer == DLX


def _named_library(facts: Facts) -> Iterator[Candidate]:
    path = facts.settings.library
    if path:
        verdict: Verdict = Accepted(f"{LIBRARY_VARIABLE} names {path}")
        if facts.line is None or facts.cxx11_abi is None:
            unknown = "its version" if facts.line is None else "its C++ ABI"
            verdict = Rejected(f"{path} cannot be checked, this torch does not say {unknown}: unset {LIBRARY_VARIABLE}")
        yield Candidate(LIBRARY_VARIABLE, "dlx", verdict, wanted_backend(facts), path)


def _overlay_variants(facts: Facts, manifest: Manifest) -> Iterator[Candidate]:
    """The overlay, for a torch that has a table of its own and runs on Ascend."""
    if not (facts.npu and facts.table is not None and facts.table.provider == "upstream"):
        return
    shipped = [v for v in manifest.variants if v.serves == "overlay" and manifest.platform == facts.platform]
    for variant in shipped:
        verdict = Accepted(
            f"torch_npu {facts.torch_npu} is installed, and torch's own table handles NPU tensors incorrectly"
        )
        yield Candidate(variant.name, "overlay", verdict, variant.backend, variant.path)
    if not shipped:
        reason = f"torch_npu {facts.torch_npu} is installed, and there is no overlay for it: reinstall dlx-torch-ext"
        yield Candidate("overlay-torch_npu", "overlay", Rejected(reason), "torch_npu")


def _existing_table(facts: Facts) -> Iterator[Candidate]:
    table = facts.table
    if table is not None and table.provider == "upstream":
        verdict = Accepted(f"torch {facts.torch} has its own table")
        yield Candidate("torch's own table", "upstream", verdict, None, table.library)
    elif table is not None:
        place = table.library or "its library is unknown"
        owner = "torch_npu" if table.of_torch_npu else "another package"
        verdict = Accepted(f"{owner} has put its table on torch.Tensor ({place}): to replace it, {PREFER_DLX}")
        yield Candidate("another package's table", "foreign", verdict, None, table.library)


def _row_variants(facts: Facts, manifest: Manifest) -> Iterator[Candidate]:
    for variant in manifest.variants:
        if variant.serves != "overlay":
            reason = _why_rejected(facts, manifest, variant)
            verdict = Rejected(reason) if reason else Accepted(f"{variant.name} fits torch {facts.torch}")
            yield Candidate(variant.name, "dlx", verdict, variant.backend, variant.path)


def _why_rejected(facts: Facts, manifest: Manifest, variant: Variant) -> str:
    """Why `variant` does not fit, or "". Last comes the backend, which may have to ask a device."""
    if manifest.platform != facts.platform:
        return f"for {manifest.platform}, this machine is {facts.platform}"
    if facts.release.problem:
        return facts.release.problem
    if variant.torch != _line_text(facts):
        return f"for torch {variant.torch}, here is {facts.torch}"
    if variant.cxx11_abi != facts.cxx11_abi:
        return f"for C++ ABI {_abi_text(variant.cxx11_abi)}, this torch has {_abi_text(facts.cxx11_abi)}"
    if facts.table is not None and not _prefers_ours(facts):
        owner = "torch's own" if facts.table.provider == "upstream" else "another package's"
        return f"{owner} table comes first: to use this one, {PREFER_DLX}"
    if variant.serves == "prefer" and not _prefers_ours(facts):
        return f"not used by default: to use it, {PREFER_DLX}"
    wanted = wanted_backend(facts)
    if variant.backend == wanted:
        return ""
    if variant.backend == "cpu":
        return f"for cpu, torch needs {wanted} here: a cpu library has no stream, and kernels could read data too early"
    return f"for {variant.backend}, torch needs {wanted} here"


def _built_here(facts: Facts, built: Sequence[Variant]) -> Iterator[Candidate]:
    if facts.table is not None and not _prefers_ours(facts):
        return
    wanted = wanted_backend(facts)
    fitting = [v for v in built if v.backend == wanted]
    for variant in fitting:
        verdict = Accepted(f"built here for exactly torch {facts.torch}")
        yield Candidate(variant.name, "dlx", verdict, variant.backend, variant.path, exact=True)
    if not fitting:
        reason = f"no {wanted} library was built here for exactly this torch: `dlx-torch build` builds one"
        yield Candidate("built here", "dlx", Rejected(reason), wanted)


def _why_none(facts: Facts, manifest: Manifest) -> str:
    """Why no candidate was accepted, and what to do."""
    if facts.release.problem:
        return f"{facts.release.problem}, and no library was built here for exactly this torch: run `dlx-torch build`"
    if manifest.problem:
        return manifest.problem
    if manifest.platform != facts.platform:
        return (
            f"this installation of dlx-torch-ext is for {manifest.platform}, this machine is {facts.platform}:"
            " reinstall dlx-torch-ext here, or run `dlx-torch build`"
        )
    if facts.cxx11_abi is None:
        return "this torch does not say its C++ ABI, so no library can be chosen: install a release of PyTorch"
    rows = [v for v in manifest.variants if v.torch == _line_text(facts) and v.cxx11_abi == facts.cxx11_abi]
    wanted = wanted_backend(facts)
    if any(v.backend == wanted and v.serves == "prefer" for v in rows):
        return f"torch {facts.torch} should have a table of its own and has none: to use ours, {PREFER_DLX}"
    if rows:
        here = ", ".join(sorted({v.backend for v in rows}))
        return f"no {wanted} library for torch {_line_text(facts)} in this installation, only {here}: {_REMEDY}"
    served = ", ".join(
        dict.fromkeys(f"{v.torch} (C++ ABI {_abi_text(v.cxx11_abi)})" for v in manifest.variants if v.torch)
    )
    return (
        f"no library for torch {_line_text(facts)} with C++ ABI {_abi_text(facts.cxx11_abi)} in this installation,"
        f" which has {'torch ' + served if served else 'libraries for no torch'}: {_REMEDY}"
    )


def _line_text(facts: Facts) -> str:
    return "unknown" if facts.line is None else ".".join(map(str, facts.line))


def _abi_text(cxx11_abi: bool | None) -> str:
    return "unknown" if cxx11_abi is None else str(int(cxx11_abi))
