"""The differences between the systems: the format and the file names of libraries, and the libraries that every machine
has."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from tools.audit import elf, macho, pe
from tools.audit.binary import Binary


@dataclasses.dataclass(frozen=True)
class Platform:
    """`torch_library`: the file name of a library of torch, as a library that needs it spells it. `always_present`: the
    libraries that every machine, or every CPython, has. `binds`: whether an undefined symbol names the library that has
    to define it. `loader`: the path of the loader, where libraries contain it. `system_lists`: libraries of the system,
    with the name of the SDK's list of the symbols that torch uses of each."""

    read: Callable[[bytes], Binary]
    torch_library: str
    always_present: re.Pattern[str]
    max_library_bytes: int = 65536
    binds: bool = True
    loader: str = ""
    system_lists: dict[str, str] = dataclasses.field(default_factory=dict)

    def torch_file(self, link: str) -> str:
        """The file name of a library of torch, which CMake and variants.toml call `link` ("c10")."""
        return self.torch_library.format(link)

    def always_has(self, file: str) -> bool:
        return bool(self.always_present.fullmatch(file))


_LINUX = Platform(
    read=elf.read,
    torch_library="lib{}.so",
    always_present=re.compile(r"lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)"),
    binds=False,
)
_PLATFORMS = {
    # A page may have 64 KB there. What is read-only once the library is loaded fills one to its end, with zeros in
    # between that the wheel packs well; what stays writable lies behind it.
    "linux-aarch64": dataclasses.replace(_LINUX, max_library_bytes=65536 + 8192),
    # A page has 16 KB on macOS, and each part of a library fills whole pages: at least code, constants, data, symbols.
    "macos": Platform(
        read=macho.read,
        torch_library="@rpath/lib{}.dylib",
        always_present=re.compile(r"/usr/lib/lib(System\.B|c\+\+\.1)\.dylib"),
        max_library_bytes=7 * 16384,
        loader="/usr/lib/dyld",
        system_lists={"/usr/lib/libc++.1.dylib": "c++", "/usr/lib/libSystem.B.dylib": "System"},
    ),
    "windows": Platform(
        read=pe.read,
        torch_library="{}.dll",
        always_present=re.compile(
            r"(python3|kernel32|msvcp140|vcruntime140(_1)?|api-ms-win-crt-[\w-]+)\.dll", re.IGNORECASE
        ),
    ),
}


def of(platform: str) -> Platform:
    """The description of a platform, named as in the manifest ("macos-arm64"); Linux's for an unknown one."""
    return _PLATFORMS.get(platform) or _PLATFORMS.get(platform.partition("-")[0], _LINUX)
