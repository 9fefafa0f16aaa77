"""C++ names: which of the two ABIs of std::string they are of, and what is the same in both."""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from typing import Any

_STRING = "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"  # std::string, in some places
_OLD = re.compile(r"\bstd::(string\b|wstring\b|basic_string<|basic_[io]?stringstream<|basic_stringbuf<|list<)")


# The C++ library that demangles where the audit runs. libstdc++'s and libc++'s agree; MSVC's has another kind of names.
_DEMANGLERS = {"linux": "libstdc++.so.6", "darwin": "libc++.1.dylib"}


@functools.lru_cache(maxsize=1)
def _standard_library() -> tuple[Any, Any]:
    """The demangler, and what frees its answers."""
    demangle = ctypes.CDLL(_DEMANGLERS[sys.platform]).__cxa_demangle
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    return demangle, free


@functools.lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """The name as C++ spells it; a name that is no C++ stays, and all do on Windows."""
    if not name.startswith("_Z") or sys.platform not in _DEMANGLERS:
        return name
    demangle, free = _standard_library()
    made = demangle(name.encode(), None, None, None)
    if not made:
        return name
    try:
        return ctypes.string_at(made).decode()
    finally:
        free(made)


def of_new_abi(name: str) -> bool:
    """Whether the mangled name exists with _GLIBCXX_USE_CXX11_ABI=1 only."""
    text = demangled(name)
    return "std::__cxx11::" in text or "[abi:cxx11]" in text


def of_old_abi(name: str) -> bool:
    """Whether the mangled name exists with _GLIBCXX_USE_CXX11_ABI=0 only: it mentions the std::string of that ABI."""
    return bool(_OLD.search(demangled(name)))


def without_abi(name: str) -> str:
    """The demangled name, spelled alike for both ABIs."""
    text = demangled(name).replace("[abi:cxx11]", "").replace("std::__cxx11::", "std::")
    return text.replace(_STRING, "std::string")


def before_hipify(text: str) -> str:
    """A demangled name of libc10_hip as it was in libc10_cuda, from which PyTorch's hipify made it."""
    return text.replace("c10::hip::", "c10::cuda::").replace("HIP", "CUDA")
