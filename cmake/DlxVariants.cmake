find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# dlx_run_python(<out variable> <script> <arguments>...)
#
# What a Python program printed. Configuring stops with the program's own words where it fails.
function(dlx_run_python out_variable)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" ${ARGN}
    OUTPUT_VARIABLE output
    ERROR_VARIABLE problem
    RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${problem}")
  endif()
  set(${out_variable} "${output}" PARENT_SCOPE)
endfunction()

# dlx_find_python_package(<name> <out directory>)
#
# The directory of an installed Python package, empty where there is none. Nothing is imported.
function(dlx_find_python_package name out_directory)
  dlx_run_python(directory "${PROJECT_SOURCE_DIR}/cmake/variants.py" package ${name})
  set(${out_directory} "${directory}" PARENT_SCOPE)
endfunction()

# dlx_json_get(<out variable> <json> <member or index>...)
#
# A value of a JSON document: a string or a number as it is, an array of them as a CMake list.
function(dlx_json_get out_variable json)
  string(JSON value GET "${json}" ${ARGN})
  string(JSON type TYPE "${json}" ${ARGN})
  if(type STREQUAL "ARRAY")
    set(array "${value}")
    set(value "")
    string(JSON count LENGTH "${array}")
    if(count GREATER 0)
      math(EXPR last "${count} - 1")
      foreach(index RANGE ${last})
        string(JSON element GET "${array}" ${index})
        list(APPEND value "${element}")
      endforeach()
    endif()
  endif()
  set(${out_variable} "${value}" PARENT_SCOPE)
endfunction()

# dlx_read_variants()
#
# Reads variants.toml into the caller's scope:
#   DLX_PLATFORM          "linux-x86_64" and so on
#   DLX_ALL_ROWS          the names of the rows, such as torch2_9_cxx11, in the order of torch's releases;
#                         for each of them DLX_ROW_<row>_{TORCH,CXX11_ABI,STD,SDK,BACKENDS}
#   DLX_ALL_BACKENDS      "cpu", "cuda" and so on; for each of them DLX_BACKEND_<backend>_{LINKS,EXTRA,FILE}
#   DLX_OVERLAY_BACKENDS  the backends that have an overlay on this platform
# It needs Python 3.9 or newer (with tomli below 3.11), which also gives the library files their names.
function(dlx_read_variants)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/variants.toml")
  dlx_run_python(
    matrix
    "${PROJECT_SOURCE_DIR}/cmake/variants.py"
    cmake
    "${CMAKE_SYSTEM_NAME}"
    "${CMAKE_SYSTEM_PROCESSOR}"
  )
  dlx_json_get(platform "${matrix}" platform)
  set(DLX_PLATFORM "${platform}" PARENT_SCOPE)
  dlx_json_get(overlays "${matrix}" overlays)
  set(DLX_OVERLAY_BACKENDS "${overlays}" PARENT_SCOPE)

  set(
    row_keys
    torch
    cxx11_abi
    std
    sdk
    backends
  )
  set(backend_keys links extra file)
  foreach(kind row backend)
    string(TOUPPER ${kind} prefix)
    string(JSON count LENGTH "${matrix}" ${kind}s)
    math(EXPR last "${count} - 1")
    set(names "")
    foreach(index RANGE ${last})
      dlx_json_get(name "${matrix}" ${kind}s ${index} name)
      list(APPEND names ${name})
      foreach(key IN LISTS ${kind}_keys)
        dlx_json_get(value "${matrix}" ${kind}s ${index} ${key})
        string(TOUPPER ${key} suffix)
        set(DLX_${prefix}_${name}_${suffix} "${value}" PARENT_SCOPE)
      endforeach()
    endforeach()
    set(DLX_ALL_${prefix}S "${names}" PARENT_SCOPE)
  endforeach()
endfunction()
