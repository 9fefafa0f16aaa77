# dlx_add_overlay(<backend>)
#
# _lib/overlay/libdlx_torch_<backend>: the table for a torch that has one of its own. Compiled without torch's headers, linked against
# none of its libraries.
function(dlx_add_overlay backend)
  set(target dlx_torch_${backend}_overlay)
  set(source "${PROJECT_SOURCE_DIR}/cpp/src")
  file(GLOB sources CONFIGURE_DEPENDS "${source}/overlay/*.cc")
  add_library(${target} MODULE ${sources}
    "${source}/backends/npu_library.cc" "${source}/devices.cc" "${source}/dtypes.cc" "${source}/errors.cc" "${source}/glibc.cc" "${source}/incoming.cc"
    "${source}/layout.cc")
  target_compile_features(${target} PRIVATE cxx_std_17)
  # Every torch that has a table of its own has every dtype of dtypes.h.
  target_compile_definitions(${target} PRIVATE DLX_VERSION="${PROJECT_VERSION}" DLX_TORCH_MINOR=10)
  target_link_libraries(${target} PRIVATE dlx_build_flags ${CMAKE_DL_LIBS})
  dlx_place_library(${target} ${backend} overlay)
endfunction()
