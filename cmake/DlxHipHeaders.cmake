# dlx_add_hip_headers(<row> <torch package>)
#
# dlx_<row>_hip_headers: the headers of a ROCm build of torch, where they are found. Call it after
# dlx_import_torch_libraries. A ROCm build has them itself, beside ROCm's own in ROCM_PATH. For any other build,
# tools/sdk/rocm.py makes them in ../hip/include beside the package; then dlx_<row>_c10_hip is a link stub made here.
function(dlx_add_hip_headers row directory)
  set(generated "${directory}/../hip/include")
  set(rocm "/opt/rocm")
  if(DEFINED ENV{ROCM_PATH})
    set(rocm "$ENV{ROCM_PATH}")
  endif()
  set(own_header "${directory}/include/c10/hip/HIPStream.h")
  set(include "")
  if(TARGET dlx_${row}_c10_hip AND EXISTS "${own_header}" AND EXISTS "${rocm}/include/hip/hip_runtime_api.h")
    set(include "${rocm}/include")
  elseif(NOT TARGET dlx_${row}_c10_hip AND EXISTS "${generated}/c10/hip/HIPStream.h")
    set(include "${generated}")
    dlx_add_stub(dlx_${row}_c10_hip c10_hip)
  endif()
  if(include)
    add_library(dlx_${row}_hip_headers INTERFACE)
    # Before torch's own headers: the SDK of a CUDA build has files of the same names.
    target_include_directories(dlx_${row}_hip_headers SYSTEM BEFORE INTERFACE "${include}")
    target_compile_definitions(dlx_${row}_hip_headers INTERFACE USE_ROCM __HIP_PLATFORM_AMD__)
  endif()
endfunction()

# dlx_add_stub(<target> <library>)
#
# A shared library with this name and SONAME and without symbols: what links it needs that library at load time, and
# nothing else comes of it.
function(dlx_add_stub target library)
  file(WRITE "${PROJECT_BINARY_DIR}/stubs/empty.cc" "")
  add_library(${target} SHARED "${PROJECT_BINARY_DIR}/stubs/empty.cc")
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/stubs/${target}"
  )
endfunction()
