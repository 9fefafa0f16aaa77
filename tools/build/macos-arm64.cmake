# CMake's toolchain file for macOS on arm64, from Linux, with zig; ZIG in the environment names the program (tools/build/zig.py).
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)

# The oldest macOS with arm64, and with it what the wheel's tag says. torch asks for 11 up to 2.11 and for 14 since.
set(CMAKE_CXX_COMPILER "$ENV{ZIG}" c++)
set(CMAKE_CXX_COMPILER_TARGET aarch64-macos.11.0)

# zig's C++ headers are LLVM's, of which Apple's are a copy: the same names, and on arm64 the same layouts. As Apple's do, they use nothing
# that the libc++ of that macOS lacks, and memory is freed by its address alone. The system's libc++ is linked, by a stub in the SDK, and
# not the one that zig would compile into each library (and, for a minute, into CMake's trial program).
set(CMAKE_CXX_FLAGS_INIT
  "-U_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1 -fno-sized-deallocation")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib++")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-nostdlib++ -s")

# The linker has stripped the library already, and given it its name; Apple's tools for both do not exist here.
set(CMAKE_STRIP true)
set(CMAKE_INSTALL_NAME_TOOL true)
