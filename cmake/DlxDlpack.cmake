# dlx_dlpack(<out include directory>)
#
# The folder that has dlpack/dlpack.h, version 1.3 or newer: DLX_DLPACK_INCLUDE_DIR, or the one inside the
# apache-tvm-ffi of this build's Python.
function(dlx_dlpack out_directory)
  set(directory "${DLX_DLPACK_INCLUDE_DIR}")
  if(NOT directory)
    dlx_find_python_package(tvm_ffi package)
    set(directory "${package}/include")
  endif()
  if(NOT EXISTS "${directory}/dlpack/dlpack.h")
    message(
      FATAL_ERROR
      "no dlpack/dlpack.h in '${directory}'. Install apache-tvm-ffi, which ships it, into ${Python3_EXECUTABLE} "
      "(pip install apache-tvm-ffi), or set -DDLX_DLPACK_INCLUDE_DIR=<folder that holds dlpack/dlpack.h>."
    )
  endif()
  file(STRINGS "${directory}/dlpack/dlpack.h" version REGEX "#define DLPACK_(MAJOR|MINOR)_VERSION [0-9]+")
  string(REGEX REPLACE ".*MAJOR_VERSION ([0-9]+).*MINOR_VERSION ([0-9]+).*" "\\1.\\2" version "${version}")
  if(version VERSION_LESS 1.3 OR NOT version VERSION_LESS 2)
    message(
      FATAL_ERROR
      "${directory}/dlpack/dlpack.h is DLPack ${version}; 1.3 or a later 1.x is needed (pip install -U apache-tvm-ffi)."
    )
  endif()
  set(${out_directory} "${directory}" PARENT_SCOPE)
endfunction()
