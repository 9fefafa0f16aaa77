# dlx_define_build_flags(<dlpack include directory>)
#
# The interface target dlx_build_flags: how every file of ours is compiled and linked. Only the C interface is exported.
# A library needs torch's libraries at load time even where a linker would drop them as unused. Undefined symbols are
# allowed: torch and CPython have them.
function(dlx_define_build_flags dlpack_include)
  add_library(dlx_build_flags INTERFACE)
  target_include_directories(
    dlx_build_flags
    INTERFACE "${PROJECT_SOURCE_DIR}/cpp/src" "${PROJECT_SOURCE_DIR}/cpp/include"
  )
  target_include_directories(dlx_build_flags SYSTEM INTERFACE "${dlpack_include}")
  target_compile_definitions(dlx_build_flags INTERFACE STRIP_ERROR_MESSAGES)
  if(MSVC)
    dlx_add_msvc_flags()
    return()
  endif()
  target_compile_options(
    dlx_build_flags
    INTERFACE
      -Wall
      -Wextra
      $<$<BOOL:${DLX_TORCH_WERROR}>:-Werror>
      -fvisibility=hidden
      -fvisibility-inlines-hidden
      -ffunction-sections
      -fdata-sections
      # Padding before each target of a jump makes nothing faster here, and is a fifth of a kilobyte of each library.
      "$<$<CXX_COMPILER_ID:GNU>:-falign-jumps=1;-falign-labels=1;-falign-loops=1>"
      # Each call goes straight through its slot of the GOT, which is filled when the library is loaded anyway: faster,
      # and half a kilobyte less in the wheel. On other processors the code would become larger.
      $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fno-plt>
      # A shape has a handful of elements: a loop is faster than the call to memcpy that GCC would make of it.
      $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
      $<$<CONFIG:Release>:-O2>
      "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  )
  dlx_add_link_options()
  if(DLX_TORCH_SANITIZE)
    target_compile_options(
      dlx_build_flags
      INTERFACE "-fsanitize=${DLX_TORCH_SANITIZE}" -fno-sanitize=vptr -fno-omit-frame-pointer -g
    )
    # The runtimes are libraries of their own: the test session loads them before everything else.
    target_link_options(
      dlx_build_flags
      INTERFACE "-fsanitize=${DLX_TORCH_SANITIZE}" $<$<CXX_COMPILER_ID:Clang>:-shared-libsan>
    )
  endif()
endfunction()

# dlx_compile_small()
#
# The files whose code runs for refusals only, or once: small counts there, since the wheel holds them dozens of times.
function(dlx_compile_small)
  if(NOT MSVC AND NOT DLX_TORCH_SANITIZE)
    set(
      files
      devices
      dtypes
      errors
      forks
      deferred
      incoming
      layout
      torch_exceptions
    )
    list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/cpp/src/")
    list(TRANSFORM files APPEND ".cc")
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS "-Os")
  endif()
endfunction()

# dlx_add_link_options()
#
# What goes to the linkers of Linux and macOS.
function(dlx_add_link_options)
  if(APPLE)
    # A Mach-O file binds each symbol to the library that had it at link time. torch's are bound to @rpath/libc10.dylib
    # and so on. dyld takes an image that is loaded under that install name before it looks at any search path, and
    # `import torch` has loaded it: so there is no LC_RPATH. No other image can give a symbol of the same name, and
    # dlopen fails where torch lacks one. CPython's symbols are bound to no library, because CPython may be a library, a
    # framework or the program itself: these are the symbols that stay undefined here.
    target_link_options(
      dlx_build_flags
      INTERFACE
        -undefined
        dynamic_lookup
        -Wl,-dead_strip
        "-Wl,-exported_symbols_list,${PROJECT_SOURCE_DIR}/cmake/exports-macos.map"
    )
  else()
    target_link_options(
      dlx_build_flags
      INTERFACE
        -Wl,--no-as-needed
        -Wl,--gc-sections
        -Wl,-z,noseparate-code
        # All addresses of functions are looked up when the library is loaded; then their table becomes read-only.
        -Wl,-z,relro,-z,now
        "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map"
    )
  endif()
endfunction()

# dlx_add_msvc_flags()
#
# The same for MSVC. It would warn of attributes that it does not know (gnu::cold). A DLL leaves no symbol undefined:
# CPython's functions are in python3.dll, which is the same for every version; CMake 3.26 and newer find it.
function(dlx_add_msvc_flags)
  target_compile_options(dlx_build_flags INTERFACE /W4 /wd5030 /EHsc $<$<BOOL:${DLX_TORCH_WERROR}>:/WX>)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.SABIModule)
  target_link_libraries(dlx_build_flags INTERFACE Python3::SABIModule)
endfunction()
