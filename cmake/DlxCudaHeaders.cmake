# dlx_add_cuda_headers(<row> <torch package>)
#
# dlx_<row>_cuda_headers: the folders of cuda_runtime_api.h and crt/host_defines.h, where both are found. They are
# looked for in ../cuda/include beside the package (./dev sdk puts them there), in CUDA_HOME, in NVIDIA's packages and
# triton beside torch, and where find_path looks.
function(dlx_add_cuda_headers row directory)
  # NVIDIA's wheels for CUDA 12 have the two headers in two folders, those for CUDA 13 in one. torch's wheels require
  # triton, which has both.
  set(nvidia "${directory}/../nvidia")
  set(
    hints
    "${directory}/../cuda/include"
    "$ENV{CUDA_HOME}/include"
    "${nvidia}/cuda_runtime/include"
    "${nvidia}/cuda_nvcc/include"
    "${nvidia}/cu13/include"
    "${directory}/../triton/backends/nvidia/include"
    /usr/local/cuda/include
  )
  # find_path keeps what it found in the cache, and this may be another package than the last time.
  unset(DLX_CUDA_INCLUDE_${row} CACHE)
  unset(DLX_CUDA_CRT_INCLUDE_${row} CACHE)
  find_path(DLX_CUDA_INCLUDE_${row} cuda_runtime_api.h HINTS ${hints})
  find_path(DLX_CUDA_CRT_INCLUDE_${row} crt/host_defines.h HINTS ${hints})
  if(DLX_CUDA_INCLUDE_${row} AND DLX_CUDA_CRT_INCLUDE_${row})
    add_library(dlx_${row}_cuda_headers INTERFACE)
    target_include_directories(
      dlx_${row}_cuda_headers
      SYSTEM
      INTERFACE "${DLX_CUDA_INCLUDE_${row}}" "${DLX_CUDA_CRT_INCLUDE_${row}}"
    )
  endif()
endfunction()
