"""What differs between the systems: the format of a library, its name, and what every machine has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tools.audit import elf, macho, pe
from tools.audit.binary import Binary


@dataclass(frozen=True)
class Platform:
    """`torch`: the name under which a library of torch is needed. `machine`: the libraries that every machine has, or
    every CPython. `binds`: a symbol of torch's is bound to the library that has it. `loader`: the path of the loader,
    where a library names it. `listed`: libraries of the system, with the SDK's name for what torch needs of each."""

    read: Callable[[bytes], Binary]
    torch: str
    machine: re.Pattern[str]
    library_bytes: int = 65536
    binds: bool = True
    loader: str = ""
    listed: dict[str, str] = field(default_factory=dict)

    def torch_file(self, link: str) -> str:
        """The file of a library of torch, which CMake calls `link` ("c10")."""
        return self.torch.format(link)

    def has(self, file: str) -> bool:
        return bool(self.machine.fullmatch(file))


_LINUX = Platform(
    read=elf.read,
    torch="lib{}.so",
    machine=re.compile(r"lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)"),
    binds=False,
)
_PLATFORMS = {
    # A page has 16 KB there, and a library at least four parts: code, constants, data and symbols.
    "macos": Platform(
        read=macho.read,
        torch="@rpath/lib{}.dylib",
        machine=re.compile(r"/usr/lib/lib(System\.B|c\+\+\.1)\.dylib"),
        library_bytes=7 * 16384,
        loader="/usr/lib/dyld",
        listed={"/usr/lib/libc++.1.dylib": "c++", "/usr/lib/libSystem.B.dylib": "System"},
    ),
    "windows": Platform(
        read=pe.read,
        torch="{}.dll",
        machine=re.compile(r"(python3|kernel32|msvcp140|vcruntime140(_1)?|api-ms-win-crt-[\w-]+)\.dll", re.IGNORECASE),
    ),
}


def of(platform: str) -> Platform:
    """By the manifest's word ("macos-arm64"); Linux's for any other."""
    return _PLATFORMS.get(platform.partition("-")[0], _LINUX)
