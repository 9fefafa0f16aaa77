# find_package(dlx_torch_ext): the target dlx::consumer, the headers for authors of kernels. `dlx-torch --cmakedir`
# prints this folder.
if(NOT TARGET dlx::consumer)
  get_filename_component(dlx_torch_ext_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
  add_library(dlx::consumer INTERFACE IMPORTED)
  set_target_properties(dlx::consumer PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${dlx_torch_ext_INCLUDE_DIR}")
  target_compile_features(dlx::consumer INTERFACE cxx_std_17)
endif()
