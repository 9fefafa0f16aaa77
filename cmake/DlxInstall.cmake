# dlx_install_headers_and_manifest(<dlpack include directory>)
#
# What is installed beside the libraries: our headers, dlpack.h with its licence, what finds them, and the manifest.
# The manifest is written last, from the libraries that were installed.
function(dlx_install_headers_and_manifest dlpack_include)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/cpp/include/" DESTINATION dlx_torch_ext/include)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/cpp/share/" DESTINATION dlx_torch_ext/share)
  install(FILES "${dlpack_include}/dlpack/dlpack.h" DESTINATION dlx_torch_ext/include/dlpack)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION dlx_torch_ext/include/dlpack)
  install(
    CODE
      "
    execute_process(
      COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/variants.py\" manifest
              \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/dlx_torch_ext/_lib\" \"${PROJECT_VERSION}\" \"${DLX_PLATFORM}\"
      COMMAND_ERROR_IS_FATAL ANY)"
  )
endfunction()
