"""The libraries that `dlx-torch build` made on this machine: their folder, their names, and which are for this torch.

The name of a file says all that the library depends on: backend, torch's full version, C++ ABI, platform, which build
of torch it is, and the state of the sources. So several environments can use one folder. The name alone proves nothing:
`_load` checks the file.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import _facts
from ._variants import Variant, file_on, library_file

if TYPE_CHECKING:
    from ._facts import Facts
    from ._settings import Settings

BACKENDS = ("cpu", "cuda", "rocm", "torch_npu")

# The libraries that ours call, by package and name: they tell one build of torch from another of the same version.
_CALLED = (("torch", "c10"), ("torch", "torch_cpu"), ("torch", "torch_python"))
_CALLED_BY = {"cuda": ("torch", "c10_cuda"), "rocm": ("torch", "c10_hip"), "torch_npu": ("torch_npu", "torch_npu")}

_SOURCES = ("CMakeLists.txt", "variants.toml", "cmake", "cpp")
_SAFE_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.+")


def folder(settings: Settings) -> str:
    """The folder of the built libraries: DLX_TORCH_CACHE_DIR, else dlx-torch-ext in the user's cache folder. "" if
    there is no home directory."""
    if settings.cache_dir:
        return settings.cache_dir
    parent = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(parent):  # the XDG specification says to ignore it then
        parent = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(parent, "dlx-torch-ext") if os.path.isabs(parent) else ""


def file_name(facts: Facts, backend: str) -> str:
    """The file name of a library for the torch of this process, which `facts` are about, and `backend`, built from the
    sources here."""
    suffix = library_file(backend, facts.system).rpartition(".")[2]
    return f"{_prefix(facts, backend)}{torch_build(facts, backend)}-{revision()}.{suffix}"


def built_for(facts: Facts) -> tuple[Variant, ...]:
    """The built libraries for exactly this torch, from the sources here. Never raises; opens no library of ours.

    torch's libraries and the sources are read only where a name says this torch's version.
    """
    cache = folder(facts.settings)
    try:
        names = set(os.listdir(cache)) if cache else set()
        maybe = [b for b in BACKENDS if any(name.startswith(_prefix(facts, b)) for name in names)]
        found = [(backend, file_name(facts, backend)) for backend in maybe]
    except OSError:
        return ()
    return tuple(
        Variant(facts.torch, facts.cxx11_abi, backend, "built", os.path.join(cache, name))
        for backend, name in found
        if name in names
    )


def torch_build(facts: Facts, backend: str) -> str:
    """Which build the torch of this process is: 12 hexadecimal digits of a hash of the ids of its libraries. A torch
    that is built again, from other headers, may keep its version."""
    import hashlib  # imported here, as in revision()

    called = filter(None, (*_CALLED, _CALLED_BY.get(backend)))
    ids = [_id_of(_package_folder(package), file_on(facts.system, name)) for package, name in called]
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]


def _id_of(package_folder: str, file: str) -> str:
    """The linker's id of a library of a package; where it has none, its size and time; "" where there is no such file.

    On Linux the linker of torch's releases gives ids. On other systems they are not looked for.
    """
    from . import _elf  # imported here: `import torch` needs it only if a library is loaded

    path = os.path.join(package_folder, "lib", file)
    try:
        state = os.stat(path)
        return _elf.build_id(path) or f"{state.st_size} {state.st_mtime_ns}"
    except OSError:
        return ""


def _package_folder(package: str) -> str:
    """The folder of an imported package, or of one that could be imported; where there is none, one without files."""
    module = sys.modules.get(package)
    try:
        found = module or _facts.find_spec(package)
    except (ImportError, ValueError):
        found = None
    file = getattr(found, "__file__", None) or getattr(found, "origin", None)
    return os.path.dirname(os.path.abspath(file)) if file else os.devnull


def source_folder() -> str:
    """The folder with the sources of the libraries: the checkout, if the package runs from one (an editable
    installation), else the package's own `_src`. "" if there is neither."""
    entries = [os.path.abspath(entry) for entry in sys.modules[__package__].__path__]
    checkouts = [
        os.path.dirname(os.path.dirname(e)) for e in entries if os.path.basename(os.path.dirname(e)) == "python"
    ]
    for root in checkouts + [os.path.join(entry, "_src") for entry in entries]:
        if all(os.path.exists(os.path.join(root, name)) for name in _SOURCES):
            return root
    return ""


@functools.lru_cache(maxsize=1)
def revision() -> str:
    """The state of the sources: 12 hexadecimal digits of a hash of their names and contents; "" without sources."""
    root = source_folder()
    if not root:
        return ""
    import hashlib  # imported here: `import torch` needs it only if a library was built here

    total = hashlib.sha256()
    for file in sorted(_source_files(root)):
        with open(os.path.join(root, file), "rb") as stream:
            content = stream.read()
        total.update(f"{file.replace(os.sep, '/')}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()[:12]


def _source_files(root: str) -> Iterator[str]:
    yield from (name for name in _SOURCES if os.path.isfile(os.path.join(root, name)))
    for name in _SOURCES:
        for where, folders, files in os.walk(os.path.join(root, name)):
            folders[:] = [folder for folder in folders if folder != "__pycache__"]
            yield from (os.path.join(where, file)[len(root) + 1 :] for file in files)


def _prefix(facts: Facts, backend: str) -> str:
    """How the name of every library for this version of torch begins, whichever build of it is here."""
    stem = library_file(backend, facts.system).rpartition(".")[0]
    torch = _safe_version(facts.torch or "")
    return f"{stem}-torch{torch}-{'cxx11' if facts.cxx11_abi else 'cxx98'}-{facts.platform}-"


def _safe_version(version: str) -> str:
    """`version` for a file name. Two versions never give the same name, even if the file system takes A for a."""
    return "".join(c if c in _SAFE_CHARACTERS else "".join(f"_{byte:02x}" for byte in c.encode()) for c in version)
