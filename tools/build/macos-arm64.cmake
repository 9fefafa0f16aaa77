# CMake's toolchain file for building on Linux for macOS on arm64, with zig. The environment variable ZIG names the
# program (tools/build/zig.py).
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)

# The oldest macOS for arm64, which the wheel's tag names too. torch needs macOS 11 up to torch 2.11, and 14 since.
set(CMAKE_CXX_COMPILER "$ENV{ZIG}" c++)
set(CMAKE_CXX_COMPILER_TARGET aarch64-macos.11.0)

# zig's C++ headers are LLVM's, and Apple's are a copy of those: they have the same names and, on arm64, the same
# layouts. With these flags they use nothing that the libc++ of that macOS lacks, as Apple's do, and memory is freed by
# its address alone. The libraries link the system's libc++, through a stub in the SDK. zig would otherwise compile its
# own libc++ into each of them (and, for a minute, into CMake's trial program).
set(
  CMAKE_CXX_FLAGS_INIT
  "-U_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1 -fno-sized-deallocation"
)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib++")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-nostdlib++ -s")

# The linker has already stripped the library and given it its name. Apple's tools for both do not exist on Linux.
set(CMAKE_STRIP true)
set(CMAKE_INSTALL_NAME_TOOL true)
