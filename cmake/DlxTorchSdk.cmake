# dlx_torch_sdk(ROW <row> DIRECTORY <torch package>)
#
# Makes targets of a torch package, installed or unpacked:
#   dlx_<row>_headers       its include folders, its C++ standard and its C++ ABI
#   dlx_<row>_<library>     for each of c10, torch_cpu, torch_python, c10_cuda and c10_hip that its lib/ has
#   dlx_<row>_cuda_headers  CUDA's headers, where they are found (cmake/DlxCudaHeaders.cmake)
#   dlx_<row>_hip_headers   the headers of a ROCm build, where they are found (cmake/DlxHipHeaders.cmake)
# Stops where the package is another release line than the row's.
function(dlx_torch_sdk)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "ROW;DIRECTORY" "")
  dlx_check_torch_line(${arg_ROW} "${arg_DIRECTORY}")
  dlx_add_torch_headers(${arg_ROW} "${arg_DIRECTORY}")
  dlx_import_torch_libraries(${arg_ROW} "${arg_DIRECTORY}")
  dlx_add_cuda_headers(${arg_ROW} "${arg_DIRECTORY}")
  dlx_add_hip_headers(${arg_ROW} "${arg_DIRECTORY}")
endfunction()

# dlx_check_torch_line(<row> <torch package>)
#
# Stops where the version of the package is not of the row's release line.
function(dlx_check_torch_line row directory)
  dlx_torch_version("${directory}" version)
  set(line "${DLX_ROW_${row}_TORCH}")
  string(REPLACE "." "\\." pattern "${line}")
  if(NOT version MATCHES "^${pattern}([^0-9]|$)")
    message(
      FATAL_ERROR
      "row ${row} needs the headers of torch ${line}, and ${directory} is torch ${version}. Point DLX_TORCH_DIR or "
      "DLX_TORCH_SDK_DIR at the right one, or leave DLX_TORCH_ROWS empty to build for the torch at hand."
    )
  endif()
endfunction()

# dlx_add_torch_headers(<row> <torch package>)
#
# dlx_<row>_headers: everything that compiling against this torch takes, but its libraries.
function(dlx_add_torch_headers row directory)
  string(REPLACE "." ";" parts "${DLX_ROW_${row}_TORCH}")
  list(GET parts 0 major)
  list(GET parts 1 minor)
  set(target dlx_${row}_headers)
  add_library(${target} INTERFACE)
  target_include_directories(
    ${target}
    SYSTEM
    INTERFACE "${directory}/include" "${directory}/include/torch/csrc/api/include"
  )
  target_compile_features(${target} INTERFACE cxx_std_${DLX_ROW_${row}_STD})
  target_compile_definitions(
    ${target}
    INTERFACE
      _GLIBCXX_USE_CXX11_ABI=${DLX_ROW_${row}_CXX11_ABI}
      DLX_TORCH_MAJOR=${major}
      DLX_TORCH_MINOR=${minor}
      DLX_CXX11_ABI=${DLX_ROW_${row}_CXX11_ABI}
  )
  if(NOT MSVC)
    # The checks in torch's headers carry the name of their file: without this, its path on this machine.
    target_compile_options(${target} INTERFACE "-ffile-prefix-map=${directory}/=")
  endif()
  if(APPLE AND CMAKE_CROSSCOMPILING)
    # A compiler without Apple's SDK has no libc++ of the system to link. The SDK of torch has a stub of it, with the
    # symbols that torch needs.
    target_link_libraries(${target} INTERFACE "${directory}/lib/libc++.tbd")
  endif()
endfunction()

# dlx_import_torch_libraries(<row> <torch package>)
#
# An imported target for each library of torch that a backend may link and that the package has. The file may be a link
# stub: only its SONAME (on macOS, its install name) enters what is built.
function(dlx_import_torch_libraries row directory)
  foreach(
    library
    c10
    torch_cpu
    torch_python
    c10_cuda
    c10_hip
  )
    set(file "${directory}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}${library}${CMAKE_SHARED_LIBRARY_SUFFIX}")
    if(WIN32)
      set(file "${directory}/lib/${library}.lib")
    elseif(APPLE AND NOT EXISTS "${file}")
      set(file "${directory}/lib/lib${library}.tbd")
    endif()
    if(EXISTS "${file}")
      add_library(dlx_${row}_${library} UNKNOWN IMPORTED)
      set_target_properties(dlx_${row}_${library} PROPERTIES IMPORTED_LOCATION "${file}")
    endif()
  endforeach()
endfunction()
