"""C++ names: which C++ ABI a name belongs to, and spellings that are the same in both."""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from typing import Any

# libstdc++ spells std::string so in some names.
_STRING = "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"
_CXX98 = re.compile(r"\bstd::(string\b|wstring\b|basic_string<|basic_[io]?stringstream<|basic_stringbuf<|list<)")


# The C++ standard library that demangles, by the system that the audit runs on. libstdc++ and libc++ give the same
# answers. Windows is missing: MSVC mangles names in another way.
_DEMANGLERS = {"linux": "libstdc++.so.6", "darwin": "libc++.1.dylib"}


@functools.lru_cache(maxsize=1)
def _standard_library() -> tuple[Any, Any]:
    """The function that demangles, and the one that frees its answers."""
    demangle = ctypes.CDLL(_DEMANGLERS[sys.platform]).__cxa_demangle
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    return demangle, free


@functools.lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """The name as C++ source spells it. A name that is not mangled is returned unchanged; on Windows every name is."""
    if not name.startswith("_Z") or sys.platform not in _DEMANGLERS:
        return name
    demangle, free = _standard_library()
    answer = demangle(name.encode(), None, None, None)
    if not answer:
        return name
    try:
        return ctypes.string_at(answer).decode()
    finally:
        free(answer)


def is_cxx11_only(name: str) -> bool:
    """Whether this mangled name exists only with the newer C++ ABI (_GLIBCXX_USE_CXX11_ABI=1)."""
    text = demangled(name)
    return "std::__cxx11::" in text or "[abi:cxx11]" in text


def is_cxx98_only(name: str) -> bool:
    """Whether this mangled name exists only with the older C++ ABI (_GLIBCXX_USE_CXX11_ABI=0): it mentions the
    std::string of that ABI."""
    return bool(_CXX98.search(demangled(name)))


def without_abi(name: str) -> str:
    """The demangled name, spelled so that it is the same for both C++ ABIs."""
    text = demangled(name).replace("[abi:cxx11]", "").replace("std::__cxx11::", "std::")
    return text.replace(_STRING, "std::string")


def cuda_name_of(text: str) -> str:
    """The name in libc10_cuda from which PyTorch's hipify answer this demangled name of libc10_hip."""
    return text.replace("c10::hip::", "c10::cuda::").replace("HIP", "CUDA")
