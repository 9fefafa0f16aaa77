# dlx_define_build_flags(<dlpack include directory>)
#
# The interface target dlx_build_flags: what every file of ours is compiled and linked with. Nothing is exported but the C interface;
# torch's libraries stay NEEDED even where a linker would drop them; undefined symbols stay for torch and CPython to fill.
function(dlx_define_build_flags dlpack_include)
  add_library(dlx_build_flags INTERFACE)
  target_include_directories(dlx_build_flags INTERFACE "${PROJECT_SOURCE_DIR}/cpp/src" "${PROJECT_SOURCE_DIR}/cpp/include")
  target_include_directories(dlx_build_flags SYSTEM INTERFACE "${dlpack_include}")
  target_compile_definitions(dlx_build_flags INTERFACE STRIP_ERROR_MESSAGES)
  if(MSVC)
    # It warns of attributes that it does not know (gnu::cold). A DLL leaves nothing undefined: CPython's functions are python3.dll's, which
    # is the same for every version; CMake 3.26 and newer find it.
    target_compile_options(dlx_build_flags INTERFACE /W4 /wd5030 /EHsc)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter Development.SABIModule)
    target_link_libraries(dlx_build_flags INTERFACE Python3::SABIModule)
    return()
  endif()
  target_compile_options(dlx_build_flags INTERFACE
    -Wall -Wextra -fvisibility=hidden -fvisibility-inlines-hidden -ffunction-sections -fdata-sections
    # Shapes are a handful of elements: a loop beats the call to memcpy that it would be turned into.
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns> $<$<CONFIG:Release>:-O2> "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
  if(APPLE)
    # A Mach-O file binds each symbol to the library that had it at link time. torch's are bound so, to @rpath/libc10.dylib and so on: dyld
    # takes an image that is loaded under that install name before it looks at any search path, and `import torch` has loaded it, so
    # there is no LC_RPATH. No other image can give a symbol of the same name, and dlopen fails where torch lacks one. CPython is bound
    # to no library, since it is one, a framework or the program itself: its symbols are the ones that stay undefined here.
    target_link_options(dlx_build_flags INTERFACE
      -undefined dynamic_lookup -Wl,-dead_strip "-Wl,-exported_symbols_list,${PROJECT_SOURCE_DIR}/cmake/exports-macos.map")
  else()
    target_link_options(dlx_build_flags INTERFACE
      -Wl,--no-as-needed -Wl,--gc-sections -Wl,-z,noseparate-code "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
      # A page may have 64 KB there, and for RELRO the linker fills the file up to the end of one: 15 KB of zeros, beyond our limit.
      target_link_options(dlx_build_flags INTERFACE -Wl,-z,norelro)
    endif()
  endif()
  if(DLX_TORCH_SANITIZE)
    target_compile_options(dlx_build_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -g)
    target_link_options(dlx_build_flags INTERFACE -fsanitize=address,undefined)
  endif()
endfunction()
