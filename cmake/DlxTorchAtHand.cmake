# dlx_torch_at_hand(<out directory> <out row>)
#
# The torch that the Python of this build finds, without importing it: its package directory, and the row of the matrix
# that fits its version and its C++ ABI. Stops where there is no torch, or no row for it.
function(dlx_torch_at_hand out_directory out_row)
  dlx_find_torch_package(directory)
  dlx_torch_version("${directory}" version)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" line "${version}")
  # torch's own CMake package has this flag where torch was built with the older ABI. With the newer one it has none, or
  # one that says 1.
  set(cxx11_abi 1)
  set(config "${directory}/share/cmake/Torch/TorchConfig.cmake")
  if(EXISTS "${config}")
    file(STRINGS "${config}" old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0" LIMIT_COUNT 1)
    if(old_abi)
      set(cxx11_abi 0)
    endif()
  endif()
  foreach(row IN LISTS DLX_ALL_ROWS)
    if(DLX_ROW_${row}_TORCH STREQUAL line AND DLX_ROW_${row}_CXX11_ABI EQUAL cxx11_abi)
      set(${out_directory} "${directory}" PARENT_SCOPE)
      set(${out_row} "${row}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(
    FATAL_ERROR
    "torch ${version} in ${directory} (C++ ABI ${cxx11_abi}) has no row in variants.toml. Rows: ${DLX_ALL_ROWS}. "
    "Install a torch of one of them, or name a row with -DDLX_TORCH_ROWS."
  )
endfunction()

# dlx_find_torch_package(<out directory>)
#
# The package directory of torch: DLX_TORCH_DIR, or where Python finds it. Stops where it has no headers.
function(dlx_find_torch_package out_directory)
  if(DLX_TORCH_DIR)
    set(directory "${DLX_TORCH_DIR}")
  else()
    dlx_find_python_package(torch directory)
  endif()
  if(NOT EXISTS "${directory}/include/c10/core/TensorImpl.h")
    message(
      FATAL_ERROR
      "no torch to compile against: ${Python3_EXECUTABLE} finds none with headers (looked at '${directory}'). "
      "Install torch into this Python and build without isolation (pip install --no-build-isolation .), or set "
      "-DDLX_TORCH_DIR=<torch package>, or -DDLX_TORCH_SDK_DIR=<folder of SDKs> (./dev sdk 2.9.1 in a checkout)."
    )
  endif()
  set(${out_directory} "${directory}" PARENT_SCOPE)
endfunction()

# dlx_torch_version(<torch package> <out version>)
#
# What <torch package>/version.py says, such as 2.9.1+cu128.
function(dlx_torch_version directory out_version)
  file(STRINGS "${directory}/version.py" line REGEX "^__version__" LIMIT_COUNT 1)
  if(NOT line MATCHES "['\"]([0-9]+\\.[0-9]+[^'\"]*)['\"]")
    message(FATAL_ERROR "${directory}/version.py does not say which torch this is: is it a torch package directory?")
  endif()
  set(${out_version} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
