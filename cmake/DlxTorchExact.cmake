# dlx_torch_exact(<out directory> <out row>)
#
# A row named `exact`, for the torch at hand and no other. It needs no row in variants.toml that fits: it is for
# nightlies, vendor builds and releases newer than the matrix. DLX_TORCH_EXACT is torch's version as torch.__version__
# says it, and DLX_TORCH_CXX11_ABI its C++ ABI, which only the running torch knows. The library carries the version
# (dlx_torch_built_for), and whoever loads it compares.
function(dlx_torch_exact out_directory out_row)
  dlx_find_torch_package(directory)
  dlx_torch_version("${directory}" version)
  if(NOT version STREQUAL DLX_TORCH_EXACT)
    message(
      FATAL_ERROR
      "torch ${DLX_TORCH_EXACT} is asked for, and ${directory} is torch ${version}. Point DLX_TORCH_DIR at the right "
      "one."
    )
  endif()
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" line "${version}")
  # The C++ standard is that of the last row that is not newer. The rows are in the order of torch's releases.
  foreach(row IN LISTS DLX_ALL_ROWS)
    if(NOT DEFINED std OR NOT DLX_ROW_${row}_TORCH VERSION_GREATER line)
      set(std "${DLX_ROW_${row}_STD}")
    endif()
  endforeach()
  set(DLX_ROW_exact_TORCH "${line}" PARENT_SCOPE)
  set(DLX_ROW_exact_CXX11_ABI "${DLX_TORCH_CXX11_ABI}" PARENT_SCOPE)
  set(DLX_ROW_exact_STD ${std} PARENT_SCOPE)
  set(${out_directory} "${directory}" PARENT_SCOPE)
  set(${out_row} exact PARENT_SCOPE)
endfunction()
