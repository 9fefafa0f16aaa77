# dlx_add_core(ROW <row>)
#
# The object library dlx_core_<row>: everything of cpp/src but the backends. It names no vendor, so all backends of a
# row share it.
function(dlx_add_core)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ROW" "")
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cpp/src/*.cc")
  add_library(dlx_core_${arg_ROW} OBJECT ${sources})
  dlx_compile_small()
  target_compile_definitions(
    dlx_core_${arg_ROW}
    PRIVATE DLX_VERSION="${PROJECT_VERSION}" DLX_BUILT_FOR="${DLX_TORCH_EXACT}"
  )
  target_link_libraries(dlx_core_${arg_ROW} PRIVATE dlx_build_flags dlx_${arg_ROW}_headers)
endfunction()

# dlx_add_variant(ROW <row> BACKEND <backend> [REQUIRED])
#
# The library of one row and one backend, libdlx_torch_<backend>, as target dlx_torch_<backend>_<row>; installed to
# dlx_torch_ext/_lib/<row>. Where something is missing that the backend needs, the variant is left out and a line says
# why; with REQUIRED, the configure step stops.
function(dlx_add_variant)
  cmake_parse_arguments(PARSE_ARGV 0 arg "REQUIRED" "ROW;BACKEND" "")
  dlx_what_is_missing(${arg_ROW} ${arg_BACKEND} problem)
  if(problem AND arg_REQUIRED)
    message(FATAL_ERROR "${arg_ROW}, ${arg_BACKEND}: ${problem}.")
  elseif(problem)
    message(STATUS "${arg_ROW}, ${arg_BACKEND}: left out, ${problem}")
    return()
  endif()

  set(target dlx_torch_${arg_BACKEND}_${arg_ROW})
  list(
    TRANSFORM DLX_BACKEND_${arg_BACKEND}_EXTRA
    PREPEND "${PROJECT_SOURCE_DIR}/cpp/src/backends/"
    OUTPUT_VARIABLE extra
  )
  # On macOS a MODULE is a bundle: it is no .dylib, and zig's linker cannot make it.
  set(kind MODULE)
  if(APPLE)
    set(kind SHARED)
  endif()
  add_library(
    ${target}
    ${kind}
    "${PROJECT_SOURCE_DIR}/cpp/src/backends/${arg_BACKEND}.cc"
    ${extra}
    $<TARGET_OBJECTS:dlx_core_${arg_ROW}>
  )
  target_link_libraries(${target} PRIVATE dlx_build_flags dlx_${arg_ROW}_headers ${CMAKE_DL_LIBS})
  if(arg_BACKEND STREQUAL "cuda")
    target_link_libraries(${target} PRIVATE dlx_${arg_ROW}_cuda_headers)
  elseif(arg_BACKEND STREQUAL "rocm")
    target_link_libraries(${target} PRIVATE dlx_${arg_ROW}_hip_headers)
  endif()
  foreach(library IN LISTS DLX_BACKEND_${arg_BACKEND}_LINKS)
    target_link_libraries(${target} PRIVATE dlx_${arg_ROW}_${library})
  endforeach()
  dlx_place_library(${target} ${arg_BACKEND} ${arg_ROW})
endfunction()

# dlx_what_is_missing(<row> <backend> <out problem>)
#
# What a variant needs and this machine lacks, with what to do about it; empty where nothing is missing. A CPU build of
# torch, for example, has no c10_cuda.
function(dlx_what_is_missing row backend out_problem)
  set(problem "")
  foreach(library IN LISTS DLX_BACKEND_${backend}_LINKS)
    if(NOT TARGET dlx_${row}_${library})
      set(problem "the torch of this row has no lib${library}: take one built for ${backend}")
    endif()
  endforeach()
  if(backend STREQUAL "cuda" AND NOT problem AND NOT TARGET dlx_${row}_cuda_headers)
    string(
      CONCAT problem
      "cuda_runtime_api.h and crt/host_defines.h are not found: set CUDA_HOME, or pip install "
      "nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12 (for CUDA 13: nvidia-cuda-runtime nvidia-cuda-crt)"
    )
  endif()
  if(backend STREQUAL "rocm" AND NOT TARGET dlx_${row}_hip_headers)
    string(
      CONCAT problem
      "the headers of a ROCm build of torch are not found: set ROCM_PATH beside a ROCm torch, or make them with "
      "python -m tools.sdk.rocm <torch package>"
    )
  endif()
  set(${out_problem} "${problem}" PARENT_SCOPE)
endfunction()

# dlx_place_library(<target> <backend> <folder>)
#
# Gives a library its name, and its place below _lib in the build folder and in the installation.
function(dlx_place_library target backend folder)
  get_filename_component(name "${DLX_BACKEND_${backend}_FILE}" NAME_WE)
  get_filename_component(suffix "${DLX_BACKEND_${backend}_FILE}" EXT)
  set_target_properties(
    ${target}
    PROPERTIES
      PREFIX ""
      OUTPUT_NAME "${name}"
      SUFFIX "${suffix}"
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/_lib/${folder}"
      LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map"
  )
  # The compiler's name is in each of the wheel's libraries: 3 KB in all, for nobody.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_STRIP AND NOT DLX_TORCH_SANITIZE)
    add_custom_command(
      TARGET ${target}
      POST_BUILD
      COMMAND "${CMAKE_STRIP}" --remove-section=.comment "$<TARGET_FILE:${target}>"
      VERBATIM
    )
  endif()
  install(
    TARGETS ${target}
    LIBRARY DESTINATION dlx_torch_ext/_lib/${folder}
    RUNTIME DESTINATION dlx_torch_ext/_lib/${folder}
  )
endfunction()
