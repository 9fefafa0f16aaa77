# dlx_define_build_flags(<dlpack include directory>)
#
# The interface target dlx_build_flags: what every file of ours is compiled and linked with. Nothing is exported but the C interface;
# torch's libraries stay NEEDED even where a linker would drop them; undefined symbols stay for torch and CPython to fill.
function(dlx_define_build_flags dlpack_include)
  add_library(dlx_build_flags INTERFACE)
  target_include_directories(dlx_build_flags INTERFACE "${PROJECT_SOURCE_DIR}/cpp/src" "${PROJECT_SOURCE_DIR}/cpp/include")
  target_include_directories(dlx_build_flags SYSTEM INTERFACE "${dlpack_include}")
  if(MSVC)
    target_compile_options(dlx_build_flags INTERFACE /W4 /EHsc)
    return()
  endif()
  target_compile_options(dlx_build_flags INTERFACE
    -DSTRIP_ERROR_MESSAGES -Wall -Wextra -fvisibility=hidden -fvisibility-inlines-hidden -ffunction-sections -fdata-sections
    # Shapes are a handful of elements: a loop beats the call to memcpy that it would be turned into.
    -fno-tree-loop-distribute-patterns $<$<CONFIG:Release>:-O2> "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
  if(APPLE)
    target_link_options(dlx_build_flags INTERFACE -undefined dynamic_lookup -Wl,-dead_strip)
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
