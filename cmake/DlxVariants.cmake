# dlx_read_variants()
#
# Reads variants.toml into the caller's scope:
#   DLX_PLATFORM                 "linux-x86_64" and so on
#   DLX_ALL_ROWS                 row names, each `torch2_9_cxx11`; per row DLX_ROW_<row>_{TORCH,CXX11,STD,SDK,SERVES,BACKENDS}
#   DLX_ALL_BACKENDS             "cpu", "cuda", ...; per backend DLX_BACKEND_<backend>_{LINKS,EXTRA,FILE}
# Needs Python 3.9 or newer (tomli below 3.11), which is also what names the library files.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

function(dlx_run_python out_variable what_to_do)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" ${ARGN}
    OUTPUT_VARIABLE output ERROR_VARIABLE problem RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${Python3_EXECUTABLE} failed: ${what_to_do}\n${problem}")
  endif()
  set(${out_variable} "${output}" PARENT_SCOPE)
endfunction()

# The directory of an installed Python package, empty where there is none. Nothing is imported.
function(dlx_find_python_package name out_directory)
  dlx_run_python(directory "this should not happen" "${PROJECT_SOURCE_DIR}/cmake/variants.py" package ${name})
  set(${out_directory} "${directory}" PARENT_SCOPE)
endfunction()

macro(dlx_read_variants)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/variants.toml")
  dlx_run_python(_dlx_matrix "below Python 3.11, pip install tomli" "${PROJECT_SOURCE_DIR}/cmake/variants.py" cmake
    "${CMAKE_SYSTEM_NAME}" "${CMAKE_SYSTEM_PROCESSOR}")
  cmake_language(EVAL CODE "${_dlx_matrix}")
endmacro()
