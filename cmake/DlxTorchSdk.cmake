# dlx_add_stub(<target> <library>)
#
# A shared object without symbols under a library's name and SONAME: it makes that library NEEDED, and nothing more.
function(dlx_add_stub target library)
  file(WRITE "${PROJECT_BINARY_DIR}/stubs/empty.cc" "")
  add_library(${target} SHARED "${PROJECT_BINARY_DIR}/stubs/empty.cc")
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/stubs/${target}")
endfunction()

# dlx_torch_sdk(ROW <row> DIRECTORY <torch package>)
#
# Makes imported targets of a torch package, installed or unpacked: dlx_<row>_headers (includes, C++ standard, ABI) and, for each of
# c10, torch_cpu, torch_python, c10_cuda that its lib/ has, dlx_<row>_<library>. The library may be a link stub: only its SONAME
# (on macOS, its install name) enters what is built. CUDA's headers (cuda_runtime_api.h, crt/host_defines.h) become
# dlx_<row>_cuda_headers where they are found: beside the package (../cuda/include), in CUDA_HOME, in packages of nvidia's or triton beside it, or as find_path finds them. The headers
# of a ROCm build become dlx_<row>_hip_headers: the package's own and ROCM_PATH's, or those that tools/sdk/rocm.py made beside it; in the
# second case dlx_<row>_c10_hip is a link stub made here.
function(dlx_torch_sdk)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ROW;DIRECTORY" "")
  set(prefix dlx_${arg_ROW})
  dlx_torch_version("${arg_DIRECTORY}" version)
  string(REPLACE "." ";" parts "${DLX_ROW_${arg_ROW}_TORCH}")
  list(GET parts 0 major)
  list(GET parts 1 minor)
  if(NOT version MATCHES "^${major}\\.${minor}([^0-9]|$)")
    message(FATAL_ERROR
      "row ${arg_ROW} needs the headers of torch ${major}.${minor}, and ${arg_DIRECTORY} is torch ${version}. Point DLX_TORCH_DIR or "
      "DLX_TORCH_SDK_DIR at the right one, or leave DLX_TORCH_ROWS empty to build for the torch at hand.")
  endif()

  add_library(${prefix}_headers INTERFACE)
  target_include_directories(${prefix}_headers SYSTEM INTERFACE
    "${arg_DIRECTORY}/include" "${arg_DIRECTORY}/include/torch/csrc/api/include")
  target_compile_features(${prefix}_headers INTERFACE cxx_std_${DLX_ROW_${arg_ROW}_STD})
  target_compile_definitions(${prefix}_headers INTERFACE
    _GLIBCXX_USE_CXX11_ABI=${DLX_ROW_${arg_ROW}_CXX11_ABI}
    DLX_TORCH_MAJOR=${major} DLX_TORCH_MINOR=${minor} DLX_CXX11_ABI=${DLX_ROW_${arg_ROW}_CXX11_ABI})

  if(NOT MSVC)
    # torch's headers name themselves in checks, by the path of this machine.
    target_compile_options(${prefix}_headers INTERFACE "-ffile-prefix-map=${arg_DIRECTORY}/=")
  endif()

  foreach(library c10 torch_cpu torch_python c10_cuda c10_hip)
    set(file "${arg_DIRECTORY}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}${library}${CMAKE_SHARED_LIBRARY_SUFFIX}")
    if(WIN32)
      set(file "${arg_DIRECTORY}/lib/${library}.lib")
    elseif(APPLE AND NOT EXISTS "${file}")
      set(file "${arg_DIRECTORY}/lib/lib${library}.tbd")
    endif()
    if(EXISTS "${file}")
      add_library(${prefix}_${library} UNKNOWN IMPORTED)
      set_target_properties(${prefix}_${library} PROPERTIES IMPORTED_LOCATION "${file}")
    endif()
  endforeach()

  # A compiler without Apple's SDK has no libc++ of the system to link: a stub of what torch asks of it stands in.
  if(APPLE AND CMAKE_CROSSCOMPILING)
    target_link_libraries(${prefix}_headers INTERFACE "${arg_DIRECTORY}/lib/libc++.tbd")
  endif()

  # NVIDIA's wheels for CUDA 12 have the two headers in two folders, those for CUDA 13 in one; torch's wheels require triton, which
  # has both.
  set(nvidia "${arg_DIRECTORY}/../nvidia")
  set(hints "${arg_DIRECTORY}/../cuda/include" "$ENV{CUDA_HOME}/include" "${nvidia}/cuda_runtime/include"
    "${nvidia}/cuda_nvcc/include" "${nvidia}/cu13/include" "${arg_DIRECTORY}/../triton/backends/nvidia/include"
    /usr/local/cuda/include)
  unset(DLX_CUDA_INCLUDE_${arg_ROW} CACHE)
  unset(DLX_CUDA_CRT_INCLUDE_${arg_ROW} CACHE)
  find_path(DLX_CUDA_INCLUDE_${arg_ROW} cuda_runtime_api.h HINTS ${hints})
  find_path(DLX_CUDA_CRT_INCLUDE_${arg_ROW} crt/host_defines.h HINTS ${hints})
  if(DLX_CUDA_INCLUDE_${arg_ROW} AND DLX_CUDA_CRT_INCLUDE_${arg_ROW})
    add_library(${prefix}_cuda_headers INTERFACE)
    target_include_directories(${prefix}_cuda_headers SYSTEM INTERFACE
      "${DLX_CUDA_INCLUDE_${arg_ROW}}" "${DLX_CUDA_CRT_INCLUDE_${arg_ROW}}")
  endif()

  set(made "${arg_DIRECTORY}/../hip/include")
  set(rocm "/opt/rocm")
  if(DEFINED ENV{ROCM_PATH})
    set(rocm "$ENV{ROCM_PATH}")
  endif()
  set(hip_include "")
  if(TARGET ${prefix}_c10_hip AND EXISTS "${arg_DIRECTORY}/include/c10/hip/HIPStream.h" AND EXISTS "${rocm}/include/hip/hip_runtime_api.h")
    set(hip_include "${rocm}/include")
  elseif(NOT TARGET ${prefix}_c10_hip AND EXISTS "${made}/c10/hip/HIPStream.h")
    set(hip_include "${made}")
    dlx_add_stub(${prefix}_c10_hip c10_hip)
  endif()
  if(hip_include)
    add_library(${prefix}_hip_headers INTERFACE)
    # Before torch's own, which a CUDA build's SDK has under the same folder names.
    target_include_directories(${prefix}_hip_headers SYSTEM BEFORE INTERFACE "${hip_include}")
    target_compile_definitions(${prefix}_hip_headers INTERFACE USE_ROCM __HIP_PLATFORM_AMD__)
  endif()
endfunction()
