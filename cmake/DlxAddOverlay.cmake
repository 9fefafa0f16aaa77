# dlx_add_overlay(<backend>)
#
# _lib/overlay/libdlx_torch_<backend>: for a torch that has a table of its own, that table with some functions replaced.
# It is compiled without torch's headers and linked against none of torch's libraries.
function(dlx_add_overlay backend)
  set(target dlx_torch_${backend}_overlay)
  set(source "${PROJECT_SOURCE_DIR}/cpp/src")
  file(GLOB sources CONFIGURE_DEPENDS "${source}/overlay/*.cc")
  add_library(
    ${target}
    MODULE
    ${sources}
    "${source}/backends/npu_library.cc"
    "${source}/devices.cc"
    "${source}/dtypes.cc"
    "${source}/errors.cc"
    "${source}/forks.cc"
    "${source}/glibc.cc"
    "${source}/incoming.cc"
    "${source}/layout.cc"
  )
  target_compile_features(${target} PRIVATE cxx_std_17)
  # Every torch with a table of its own is 2.10 or newer, and has all dtypes of dtypes.h.
  target_compile_definitions(${target} PRIVATE DLX_VERSION="${PROJECT_VERSION}" DLX_TORCH_MINOR=10)
  target_link_libraries(${target} PRIVATE dlx_build_flags ${CMAKE_DL_LIBS})
  dlx_place_library(${target} ${backend} overlay)
endfunction()
